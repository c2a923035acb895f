"""One record of a log, with everything that the producer wrote."""

from __future__ import annotations

from typing import NamedTuple


class Header(NamedTuple):
    name: str
    value: bytes | None


class RecordDetails(NamedTuple):
    """A record.

    ``timestamp`` is in milliseconds since 1970, ``None`` if the record has none. ``size``: the bytes of key and value.
    ``batch_size``: the bytes of its batch in the log. ``producer_id``: ``None`` if the producer is not idempotent.
    """

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    size: int
    batch_size: int
    batch_base: int
    producer_id: int | None


class NextRecords(NamedTuple):
    """The records that a consumer receives next, and the offset at which it continues after them."""

    records: tuple[RecordDetails, ...]
    until: int
