"""First unread records: those that a consumer would get, from any log; any other bytes are rejected."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.compression import Codec
from kgroups.protocol.first_records import Record, first_records
from kgroups.protocol.record_batch import Aborted
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, log_bytes, marker, message, message_set
from tests.property.strategies import damaged

times = st.integers(0, 2**42)
codecs = st.sampled_from(Codec)
old_codecs = st.sampled_from([codec for codec in Codec if codec is not Codec.ZSTD])


class Log(NamedTuple):
    batches: Sequence[Batch]
    visible: Sequence[Record]
    aborted: Sequence[Aborted]
    end: int


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Batches, old messages, holes, and transactions of two producers, of which some were aborted."""
    at = draw(st.integers(0, 1000))
    batches: list[Batch] = []
    visible: list[Record] = []
    aborted: list[Aborted] = []
    open_: dict[int, tuple[bool, int]] = {}
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.integers(0, 3))
        kind = draw(st.sampled_from(["batch", "batch", "transaction", "end", "old", "set", "oldest"]))
        count = draw(st.integers(1, 4))
        gaps = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
        records = [(at + sum(gaps[:place]), draw(times)) for place in range(count)]
        if kind == "batch":
            kept = records[: draw(st.integers(0, count))]
            append_time = draw(st.none() | times)
            batches.append(batch(at, kept, last=records[-1][0], codec=draw(codecs), append_time=append_time))
            visible += [Record(offset, time if append_time is None else append_time) for offset, time in kept]
        elif kind == "transaction":
            producer = draw(st.sampled_from([1, 2]))
            doomed, _ = open_.setdefault(producer, (draw(st.booleans()), at))
            batches.append(batch(at, records, producer=producer, attributes=TRANSACTIONAL, codec=draw(codecs)))
            visible += [] if doomed else [Record(*record) for record in records]
        elif kind == "end" and open_:
            producer = draw(st.sampled_from(sorted(open_)))
            doomed, first = open_.pop(producer)
            aborted += [Aborted(producer, first)] if doomed else []
            batches.append(marker(at, producer))
        elif kind == "oldest":
            batches.append(message(at, None))
            visible.append(Record(at, None))
        elif kind == "old":
            batches.append(message(*records[0]))
            visible.append(Record(*records[0]))
        else:
            batches.append(message_set(records, draw(old_codecs.filter(bool))))
            visible += [Record(*record) for record in records]
        at = batches[-1].last + 1
    for producer, (doomed, first) in sorted(open_.items()):
        batches.append(marker(at, producer))
        aborted += [Aborted(producer, first)] if doomed else []
        at += 1
    return Log(batches, visible, aborted, at)


@given(logs(), st.data())
def test_first_records_match_the_consumer_view(log: Log, data: st.DataObject) -> None:
    start = log.batches[0].base
    offsets = data.draw(st.lists(st.integers(start, log.end), min_size=1, max_size=5))
    found, until = first_records(log_bytes(log.batches), offsets, log.aborted)
    for offset in offsets:
        expected = next((record for record in log.visible if record.offset >= offset), None)
        assert found.get(offset) == expected
    assert set(found) == set(offsets) or until == max(log.end, min(offsets))


@given(logs(), st.data())
def test_log_read_in_portions_matches_the_whole_log(log: Log, data: st.DataObject) -> None:
    """Cut anywhere, and read on from where the whole batches end."""
    offset = data.draw(st.integers(log.batches[0].base, log.end))
    expected = next((record for record in log.visible if record.offset >= offset), None)
    at, found = offset, None
    while found is None and at < log.end:
        rest = [each for each in log.batches if each.last >= at]
        whole = log_bytes(rest)
        cut = data.draw(st.integers(len(rest[0].data), len(whole)))
        scan = first_records(whole[:cut], [at], log.aborted)
        found = scan.found.get(at)
        assert found or scan.until > at
        at = max(at, scan.until)
    assert found == expected


@given(logs().map(lambda log: log_bytes(log.batches)), st.data())
def test_damaged_log_is_read_or_rejected(whole: bytes, data: st.DataObject) -> None:
    rubbish = data.draw(damaged(st.just(whole)))
    offsets = data.draw(st.lists(st.integers(0, 1100), min_size=1, max_size=4))
    with suppress(RemoteProtocolError):
        first_records(rubbish, offsets)


@given(st.binary(max_size=200), st.integers(0, 5))
def test_any_bytes_are_read_or_rejected(data: bytes, offset: int) -> None:
    with suppress(RemoteProtocolError):
        first_records(data, [offset])


@given(st.binary(max_size=200), codecs, st.integers(0, 0xFF))
def test_any_batch_body_is_read_or_rejected(body: bytes, codec: Codec, count: int) -> None:
    made = bytearray(batch(0, [(at, at) for at in range(count)], last=300).data[:61] + body)
    made[8:12] = (len(made) - 12).to_bytes(4, "big")
    made[22] |= codec
    with suppress(RemoteProtocolError):
        first_records(bytes(made), [0, 299])
