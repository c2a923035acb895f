"""The format of coordinators' records: schemas as data, and the functions that read and write records by them.

``spec`` has the types of schemas. ``readers`` compiles them to functions, with which a ``decoder`` reads records, also
as JSON. ``encode`` is its inverse.
"""

from __future__ import annotations

from .decoder import Record, RecordDecoder, group_of, to_json
from .spec import NO_TOPIC_ID, Field, RecordType

__all__ = ["NO_TOPIC_ID", "Field", "Record", "RecordDecoder", "RecordType", "group_of", "to_json"]
