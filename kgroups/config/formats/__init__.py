"""Readers of file and text formats: keystores, PEM, JWT, JAAS, and cipher suite names."""
