"""The live table of groups."""
