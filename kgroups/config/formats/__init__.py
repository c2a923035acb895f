"""Readers of file and text formats: key stores, PEM, JWT, JAAS, and cipher suite names."""
