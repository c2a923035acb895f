"""Lineage of a collection, as events of OpenLineage: from topics to groups, and from the log to the store."""
