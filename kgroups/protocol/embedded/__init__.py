"""Decode the metadata that clients store in groups, which is opaque to brokers; keep raw bytes if they are invalid."""
