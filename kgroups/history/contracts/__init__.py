"""The contracts of the tables of history, for other programs: a JSON Schema for each, and the data dictionary. Pure."""

from __future__ import annotations

from typing import Final

from .. import derived
from ..tables import DECODED, STORED, Table

DERIVED: Final = tuple(value for value in vars(derived).values() if isinstance(value, Table))
"""The tables that queries compute."""

TABLES: Final = {table.name: table for table in (*STORED, *DERIVED, DECODED)}
"""Every table, by name."""
