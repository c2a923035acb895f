"""Whole records of a log, key and value, as Fetch gives them under read_committed: what :mod:`record_batch` steps over.

Only batches (v2, Kafka 0.11): older formats are told, not read. What bytes announce is never trusted; a batch of an
aborted transaction is passed over, and the last one may be cut off.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kgroups.errors import RemoteProtocolError

from .budget import Budget
from .compression import decompress
from .record_batch import (
    APPEND_TIME,
    BATCH,
    CODEC,
    CONTROL,
    HEADER,
    HEADER_AT,
    MAGIC_AT,
    PREFIX,
    RECORDS_AT,
    TRANSACTIONAL,
    Aborted,
    varint,
)


class Entry(NamedTuple):
    """``timestamp`` is in milliseconds since 1970, negative where there is none."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


class Entries(NamedTuple):
    """What was there, in order; and the offset to read on from: the one given where no whole batch was."""

    entries: list[Entry]
    until: int


def read_entries(data: bytes, start: int, aborted: Iterable[Aborted] = (), budget: Budget | None = None) -> Entries:
    """The records at or behind ``start``.

    :raises RemoteProtocolError: when the bytes are no batches of records, or are in a format older than Kafka 0.11.
    :raises ResponseTooLarge: (one of them) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget()
    begun = deque(sorted(aborted, key=lambda each: each.first_offset))
    doomed: set[int] = set()
    found: list[Entry] = []
    at, until = 0, start
    try:
        while at + MAGIC_AT < len(data):
            budget.check()
            base, size = PREFIX.unpack_from(data, at)
            end = at + PREFIX.size + size
            if size <= MAGIC_AT - PREFIX.size:
                raise ValueError(f"a batch of {size} bytes")
            if end > len(data):
                break
            if data[at + MAGIC_AT] != BATCH:
                raise ValueError(f"records in format {data[at + MAGIC_AT]}")
            batch = data[at:end]
            attributes, delta, *_, producer, _, _, _ = HEADER.unpack_from(batch, HEADER_AT)
            if delta < 0:
                raise ValueError("a batch with less than no records")
            while begun and begun[0].first_offset <= base + delta:
                doomed.add(begun.popleft().producer_id)
            if attributes & CONTROL:
                doomed.discard(producer)
            elif not (attributes & TRANSACTIONAL and producer in doomed):
                found += [entry for entry in _entries(base, batch, budget) if entry.offset >= start]
            until, at = max(until, base + delta + 1), end
    except (IndexError, ValueError, struct.error) as error:
        raise RemoteProtocolError(f"undecodable records ({error or type(error).__name__})") from error
    return Entries(found, until)


def _entries(base: int, batch: bytes, budget: Budget) -> Iterator[Entry]:
    attributes, _, first_time, largest_time, _, _, _, count = HEADER.unpack_from(batch, HEADER_AT)
    if count < 0:
        raise ValueError("a batch with less than no records")
    body = decompress(attributes & CODEC, batch[RECORDS_AT:], budget)
    at = 0
    for _ in budget.turns(count):
        size, start = varint(body, at)
        at = start + size
        if not start < at <= len(body):
            raise ValueError("a record ends too soon")
        time_delta, place = varint(body, start + 1)  # behind attributes that mean nothing yet
        offset_delta, place = varint(body, place)
        key, place = _bytes(body, place)
        value, place = _bytes(body, place)
        if place > at:
            raise ValueError("a record ends too soon")
        time = largest_time if attributes & APPEND_TIME else first_time + time_delta
        yield Entry(base + offset_delta, time, key, value)


def _bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, start = varint(data, at)
    if size < 0:
        return None, start
    return data[start : start + size], start + size
