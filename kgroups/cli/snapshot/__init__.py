"""``kgroups snapshot``: save the state of groups, show it, compare it, and restore it."""
