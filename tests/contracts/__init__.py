"""Frozen lists of what other programs rely on, which forbid silent changes."""
