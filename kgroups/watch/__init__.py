"""``kgroups watch``: a live screen of groups."""
