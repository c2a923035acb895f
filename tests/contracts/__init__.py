"""What other programs rely on: JSON Schemas for `kgroups/schemas/`, and frozen lists that forbid silent changes."""
