"""Holes of compaction, markers, and aborted transactions, against a model of the log and its cleaner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.errors import BrokerUnavailable
from kgroups.history.arrow import arrow_schema
from kgroups.history.extract.holes import Compacted, HoleCounter
from kgroups.history.extract.ranges import Range
from kgroups.history.live import compaction
from kgroups.history.tables import RECORDS

Holes = Mapping[int, Sequence[tuple[int, int]]]


class Log(NamedTuple):
    """Offset -> key of the committed records that are left, and the offsets that the cleaner emptied."""

    records: dict[int, str]
    cleaned: set[int]
    lost: set[int]
    """Those of ``cleaned`` that had a committed record."""
    end: int

    def find_last(self, asked: Holes) -> dict[int, int | None]:
        """As the headers of the batches show it."""
        found = [index for index, (a, b) in enumerate(asked[0]) if self.cleaned & set(range(a, b))]
        return {0: max(found, default=None)}

    def read(self, start: int, stop: int, size: int) -> Compacted:
        counter = HoleCounter([Range(0, start, stop)])
        chosen = [(offset, key) for offset, key in sorted(self.records.items()) if start <= offset < stop]
        for at in range(0, len(chosen), size):
            counter.add(batch(chosen[at : at + size]))
        return counter.compacted(self.find_last)[0]


def batch(records: Sequence[tuple[int, str]]) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = [
        {"log_partition": 0, "log_offset": offset, "log_time": offset * 1000, "key": key.encode()}
        for offset, key in records
    ]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(RECORDS))


def log_of(batches: Sequence[str], cleaned_to: float) -> Log:
    """Write batches of committed records, a letter each, aborted records (-), and markers (.); then clean."""
    written = [key for each in batches for key in each]
    end = len(written)
    horizon = round(end * cleaned_to)
    last = {key: offset for offset, key in enumerate(written[:horizon])}
    committed = {offset: key for offset, key in enumerate(written) if key not in "-."}
    lost = {offset for offset, key in committed.items() if offset < horizon and last[key] != offset}
    aborted = {offset for offset, key in enumerate(written[:horizon]) if key == "-"}
    kept = {offset: key for offset, key in committed.items() if offset not in lost}
    return Log(kept, lost | aborted, lost, end)


_BATCHES = st.lists(
    st.one_of(st.text("abc", min_size=1, max_size=4), st.sampled_from([".", "-.", "---."])), max_size=25
)


@given(_BATCHES, st.floats(0, 1), st.integers(1, 7), st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_history_is_complete_after_the_last_compacted_hole(
    batches: list[str], cleaned_to: float, size: int, part: tuple[float, float]
) -> None:
    log = log_of(batches, cleaned_to)
    start, stop = (round(log.end * each) for each in sorted(part))
    found = log.read(start, stop, size)
    lost = {offset for offset in log.lost if start <= offset < stop}
    assert all(offset < (found.compacted_to or start) for offset in lost)
    if found.compacted_to is None:
        assert found == (0, None, None)
        return
    empty = set(range(start, found.compacted_to)) - log.records.keys()
    assert found.compacted == len(empty)
    assert found.compacted_to - 1 in empty
    assert log.cleaned & empty
    following = [offset for offset in log.records if found.compacted_to <= offset < stop]
    assert found.whole_since == (found.compacted_to * 1000 if following else None)


def test_cleaned_head_with_uncleaned_tail_is_complete_from_the_tail() -> None:
    log = log_of(["k", "ab" * 1000, "ab" * 1500], 2001 / 5001)
    assert log.read(0, log.end, 100) == (1998, 1999, 1999 * 1000)


def test_aborted_transactions_are_not_gaps() -> None:
    log = log_of(["x.", "--.", "y.", "z."] * 100, 0)
    assert log.read(0, log.end, 50) == (0, None, None)


def test_log_without_holes_is_not_looked_at() -> None:
    counter = HoleCounter([Range(0, 0, 3)])
    counter.add(batch([(0, "a"), (1, "b"), (2, "c")]))
    assert counter.compacted(lambda asked: pytest.fail("asked")) == {0: (0, None, None)}


def test_holes_after_a_repeated_key_are_not_looked_at() -> None:
    counter = HoleCounter([Range(0, 0, 20)])
    counter.add(batch([(2, "a"), (5, "b"), (6, "a"), (9, "c")]))
    asked: list[Holes] = []

    def find_last(holes: Holes) -> dict[int, int | None]:
        asked.append(holes)
        return {0: None}

    counter.compacted(find_last)
    assert asked == [{0: [(0, 2), (3, 5)]}]


def test_unreadable_log_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BrokerUnavailable("gone")

    monkeypatch.setattr(compaction, "last_compacted", fail)
    session: Any = None
    assert compaction.find_last(session, "t", {3: [(0, 2), (3, 5)]}) == {3: 1}


@pytest.mark.parametrize(
    ("explained", "expected"),
    [([], False), ([(0, 10)], True), ([(2, 4), (4, 6)], True), ([(2, 4), (5, 6)], False), ([(3, 6)], False)],
)
def test_hole_is_explained_by_markers_and_aborted_records(explained: list[tuple[int, int]], expected: bool) -> None:
    assert compaction._is_explained((2, 6), explained) is expected
