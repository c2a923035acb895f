"""What other programs rely on: the JSON Schemas in ``kgroups/schemas/``, and frozen lists that forbid silent changes."""
