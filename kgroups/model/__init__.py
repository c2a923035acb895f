"""Words and rules: what a group, a commit, a lag, an outcome is. Standard library only; no I/O, no clock, no codec."""
