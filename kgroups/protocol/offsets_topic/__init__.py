"""The records of ``__consumer_offsets``: every type and version that brokers wrote since Kafka 0.8.

``record_types`` contains their schemas as data, in the types of ``spec``. ``readers`` compiles them to functions, with
which ``decode`` reads a record. ``to_json`` writes it, and ``member_states`` names the values of one field.
"""

from __future__ import annotations

from .decode import Record, decode, group_of
from .record_types import RECORD_TYPES
from .spec import NO_TOPIC_ID
from .to_json import to_json

__all__ = ["NO_TOPIC_ID", "RECORD_TYPES", "Record", "decode", "group_of", "to_json"]
