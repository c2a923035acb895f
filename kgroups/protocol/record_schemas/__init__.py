"""The format of coordinators' records: schemas as data, and the functions that read and write records by them.

``spec`` has the types of schemas. ``readers`` compiles them to functions, with which a ``decoder`` reads records.
``encode`` is its inverse. ``to_json`` writes a decoded record as text.
"""

from __future__ import annotations

from .decoder import Record, RecordDecoder, group_of
from .spec import NO_TOPIC_ID, Field, RecordType
from .to_json import to_json

__all__ = ["NO_TOPIC_ID", "Field", "Record", "RecordDecoder", "RecordType", "group_of", "to_json"]
