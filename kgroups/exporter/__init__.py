"""``kgroups exporter``: metrics for Prometheus."""
