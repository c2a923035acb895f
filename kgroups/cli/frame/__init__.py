"""What every command needs: options, queries, plans, results, and exit codes."""
