"""A Kafka that misbehaves on demand."""
