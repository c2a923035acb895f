"""Maintenance of the store: merge small files, delete old rows and leftovers of interrupted runs. Without Spark."""
