"""``kgroups profile``: the profiles of the configuration file."""
