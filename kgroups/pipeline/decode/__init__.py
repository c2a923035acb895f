"""Records of ``__consumer_offsets`` into the tables of history: Arrow batches in, Arrow batches out, no Spark.

``decode_batch`` gives each record one row of DECODED: commits by whole columns (``commits``), all else one by one
(``rows``). ``split`` deals such rows out to the tables that are stored: ``classic``, ``modern`` and ``streams`` say
what a group's records are there.
"""

from __future__ import annotations

from .batch import decode_batch
from .split import FILLED_FROM, STORED_FROM_RECORDS, as_table, split, split_table

__all__ = ["FILLED_FROM", "STORED_FROM_RECORDS", "as_table", "decode_batch", "split", "split_table"]
