"""The rows of each view, built from domain types."""
