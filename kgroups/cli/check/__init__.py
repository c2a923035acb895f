"""The command that checks groups against limits."""
