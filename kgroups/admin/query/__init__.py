"""Query a cluster: which groups exist, their state and members, and their offsets."""
