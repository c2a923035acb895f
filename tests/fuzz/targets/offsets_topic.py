"""Records of ``__consumer_offsets``: decoded, or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kgroups.errors import UndecodableRecord
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.record_schemas import group_of
from tests.fuzz.harness import examples, split
from tests.property.offset_records import SCHEMAS, records


def seeds() -> Iterator[bytes]:
    for schema in SCHEMAS:
        for key, value in examples(records(schema), 2):
            whole = (key or b"") + (value or b"")
            yield bytes([-(-len(key or b"") * 256 // (len(whole) + 1)) % 256]) + whole


def one(data: bytes) -> None:
    key, value = split(data, 2)
    for each in (value, None):
        try:
            record = decode(key, each)
        except UndecodableRecord as error:
            assert error.cause
        else:
            group_of(record.key)
            json.dumps([record.key, record.value], default=bytes.hex)
