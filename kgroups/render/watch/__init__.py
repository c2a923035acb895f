"""Output of ``watch``: a live table on a terminal, JSON lines elsewhere."""
