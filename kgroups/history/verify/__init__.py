"""Test a store: its files, the rows in them, and whether they agree with the cluster. Nothing is changed."""
