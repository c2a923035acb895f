"""kgroups: Kafka's consumer groups, listed and described truthfully. Nothing heavy is imported here."""

__version__ = "0.1.0"
