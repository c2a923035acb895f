"""Maintenance of the store: merge small files, delete what is old, and what interrupted runs left. Without Spark."""
