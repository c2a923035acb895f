"""``kgroups config``: the effective settings, and a test of the connection."""
