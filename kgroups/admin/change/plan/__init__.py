"""Plan changes: look up what a change needs, and decide. Nothing is changed."""
