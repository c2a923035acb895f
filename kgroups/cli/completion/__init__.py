"""Shell completion: the scripts, and what they print for a command line."""
