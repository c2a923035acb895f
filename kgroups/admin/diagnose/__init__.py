"""The way to each broker, step by step."""
