"""Snapshots of groups: take one of a cluster, write it to a file, and read it."""
