"""Split the log into lots, and limit a step through it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.history.extract.ranges import SPLIT, Range, advance, between, divide, pack, subtract

POSITIONS = st.dictionaries(st.integers(0, 60), st.integers(0, 1_000), max_size=12)


def spread(spans: dict[int, int]) -> list[Range]:
    return between(dict.fromkeys(spans, 0), spans)


def test_new_partition_is_read_from_its_start() -> None:
    assert between({0: 5}, {0: 9, 1: 3}) == [Range(0, 5, 9), Range(1, 0, 3)]


def test_partition_without_new_records_has_no_range() -> None:
    assert between({0: 9, 1: 4}, {0: 9, 1: 3}) == []


def test_large_partition_is_split() -> None:
    assert pack([Range(0, 10, 20), Range(1, 0, 2)], 2) == [(Range(0, 10, 16),), (Range(0, 16, 20), Range(1, 0, 2))]


def test_no_ranges_make_no_lots() -> None:
    assert pack([], 4) == []


@given(POSITIONS, st.integers(1, 9))
def test_lots_cover_everything_once_and_are_balanced(spans: dict[int, int], bins: int) -> None:
    lots = pack(spread(spans), bins)
    seen = sorted((p.partition, offset) for lot in lots for p in lot for offset in range(p.start, p.stop))
    assert seen == sorted((partition, offset) for partition, span in spans.items() for offset in range(span))
    assert len(lots) <= bins
    sizes = [sum(piece.span for piece in lot) for lot in lots]
    assert not sizes or max(sizes) <= -(-sum(spans.values()) // bins)


@given(POSITIONS, POSITIONS, st.integers(1, 2_000))
def test_limited_step_respects_its_maximum_and_advances(
    starts: dict[int, int], more: dict[int, int], most: int
) -> None:
    stops = {partition: starts.get(partition, 0) + step for partition, step in more.items()}
    reached = advance(starts, stops, most)
    steps = {partition: reached[partition] - starts.get(partition, 0) for partition in stops}
    assert all(0 <= step <= more[partition] for partition, step in steps.items())
    total, advanced = sum(more.values()), sum(steps.values())
    assert advanced <= most
    assert advanced == min(total, most) or advanced > 0


@given(POSITIONS, st.integers(1, 300))
def test_limited_steps_reach_the_end(spans: dict[int, int], most: int) -> None:
    at = dict.fromkeys(spans, 0)
    for _ in range(sum(spans.values()) + 1):
        at = advance(at, spans, most)
        if at == spans:
            return
    raise AssertionError(f"{at} after as many steps as there are offsets")


@given(POSITIONS, st.integers(1, 9))
def test_every_core_gets_a_split(spans: dict[int, int], cores: int) -> None:
    total = sum(spans.values())
    size = -(-total // cores)
    assert len(divide(spread(spans), cores)) == (-(-total // size) if total else 0)


def test_splits_are_limited_in_size() -> None:
    splits = divide([Range(0, 0, 4 * SPLIT + 1)], 2)
    assert len(splits) == 5
    assert max(piece.span for split in splits for piece in split) <= SPLIT


@pytest.mark.parametrize(
    ("covered", "left"),
    [
        ([], [(10, 20)]),
        ([(12, 15)], [(10, 12), (15, 20)]),
        ([(0, 12), (11, 13), (18, 30)], [(13, 18)]),
        ([(0, 5), (25, 30)], [(10, 20)]),
        ([(0, 5), (5, 30)], []),
        ([(10, 20)], []),
        ([(5, 10), (20, 30), (15, 15)], [(10, 20)]),
    ],
)
def test_covered_ranges_are_subtracted(covered: list[tuple[int, int]], left: list[tuple[int, int]]) -> None:
    known = [Range(1, *each) for each in covered] + [Range(2, 0, 100)]
    assert subtract([Range(1, 10, 20)], known) == [Range(1, *each) for each in left]
