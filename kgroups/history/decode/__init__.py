"""Decode records of ``__consumer_offsets`` into the tables of history: Arrow batches in and out, without Spark.

``decode_batch`` returns one row of DECODED for each record: it decodes commits by column (``commits``), and all others
one by one (``rows``). ``split`` distributes these rows to the stored tables; ``classic``, ``modern``, and ``streams``
map the records of a group type to rows.
"""

from __future__ import annotations

from .batch import decode_batch
from .split import FILLED_FROM, STORED_FROM_RECORDS, as_table, split, split_table

__all__ = ["FILLED_FROM", "STORED_FROM_RECORDS", "as_table", "decode_batch", "split", "split_table"]
