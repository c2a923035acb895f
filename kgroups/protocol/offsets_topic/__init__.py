"""The records of ``__consumer_offsets``: every type and version that brokers wrote since Kafka 0.8.

``record_types`` contains their schemas, by which ``decode`` reads a record. ``member_states`` names the values of one
field.
"""

from __future__ import annotations

from .decode import decode
from .record_types import RECORD_TYPES

__all__ = ["RECORD_TYPES", "decode"]
