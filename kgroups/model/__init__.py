"""Domain types and rules: groups, commits, lag, outcomes. Standard library only; no I/O, no clock, no codec."""
