"""Verdicts about single partitions of groups: facts in, one verdict with evidence out; no I/O and no clock."""
