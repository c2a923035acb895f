"""``kgroups watch``: a live table of groups."""
