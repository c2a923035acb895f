"""What all commands share: options, help, one query, and exit codes."""
