"""Changes: plans, the check before the write, and the writes."""
