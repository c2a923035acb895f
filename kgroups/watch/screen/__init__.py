"""Output of ``watch``: pages on a terminal, tables on a dumb one, JSON lines elsewhere."""
