"""Whether groups are well, by rules that somebody set: limits, what was seen, and the findings. Pure."""
