"""Benchmarks of kgroups against other tools, on one machine, in one run. ``README.md`` explains the reports."""
