"""Output that is byte-identical to the output of Kafka's own tools."""
