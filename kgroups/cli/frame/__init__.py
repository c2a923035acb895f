"""The parts that commands share: options, queries, plans, results, and exit codes."""
