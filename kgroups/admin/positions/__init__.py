"""Positions outside Kafka: groups that the cluster does not know."""
