"""The records of ``__consumer_offsets``: every type and version that brokers wrote since Kafka 0.8.

``record_types`` contains their schemas, by which :func:`decode` reads a record.
"""

from __future__ import annotations

from typing import Final

from ..record_schemas import RecordDecoder
from .record_types import RECORD_TYPES

__all__ = ["RECORD_TYPES", "decode"]

decode: Final = RecordDecoder(RECORD_TYPES.values()).decode
