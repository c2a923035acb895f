"""One record of a log, as far as it matters to a consumer that does not get past it."""

from __future__ import annotations

from typing import NamedTuple


class RecordDetails(NamedTuple):
    """A record.

    ``timestamp`` is in milliseconds since 1970, ``None`` if the record has none. ``size``: the bytes of key and value.
    ``batch_size``: the bytes of its batch in the log. ``producer_id``: ``None`` if the producer is not idempotent.
    """

    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[str, ...]
    size: int
    batch_size: int
    batch_base: int
    producer_id: int | None
