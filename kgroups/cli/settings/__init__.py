"""``kgroups settings``: show the dynamic configuration of groups, compare it with a file, and change it."""
