"""kgroups beside the tools that people use today, on one machine, in one run. ``README.md`` says how to read it."""
