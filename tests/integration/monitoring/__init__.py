"""The monitoring kit with a real Prometheus, a real exporter, and real brokers."""
