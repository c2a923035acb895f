"""Changes of groups and their offsets, of which ``plan`` decides, and ``apply`` writes."""
