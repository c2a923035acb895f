"""Diagnose the connection to each broker, step by step."""
