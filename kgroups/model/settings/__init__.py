"""Settings of groups: their dynamic configuration, compared with a file, and changed (KIP-848, Kafka 4.0)."""
