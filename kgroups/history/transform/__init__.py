"""The derived tables of history, as SQL: one file each."""
