"""What ``watch`` shows: a live table on a terminal, JSON lines elsewhere."""
