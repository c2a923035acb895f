"""The records of ``__consumer_offsets``: every type and version that brokers wrote since Kafka 0.8.

``record_types`` is their schemas, as data in the words of ``spec``; ``readers`` makes functions of these, ``decode``
reads a record by them, ``to_json`` writes it down, ``member_states`` has the words for one byte of it.
"""

from __future__ import annotations

from .decode import Record, decode, group_of
from .record_types import RECORD_TYPES
from .spec import NO_TOPIC_ID
from .to_json import to_json

__all__ = ["NO_TOPIC_ID", "RECORD_TYPES", "Record", "decode", "group_of", "to_json"]
