"""The command that serves metrics to Prometheus."""
