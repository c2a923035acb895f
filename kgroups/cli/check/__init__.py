"""``kgroups check``: check groups against limits."""
