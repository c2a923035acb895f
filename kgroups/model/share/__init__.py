"""The state of share groups (KIP-932): which records of a partition were delivered, and what became of them."""
