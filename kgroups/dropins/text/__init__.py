"""Output byte-identical to that of Kafka's own tools."""
