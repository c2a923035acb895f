"""Text of Kafka's own tools, byte for byte."""
