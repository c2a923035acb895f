"""Combined batches, against one state per offset."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.share.batches import StateBatch, clip, combine


def batches() -> st.SearchStrategy[list[StateBatch]]:
    def batch(first: int, length: int, state: int, deliveries: int) -> StateBatch:
        return StateBatch(first, first + length, state, deliveries)

    return st.lists(
        st.builds(batch, st.integers(0, 12), st.integers(0, 5), st.sampled_from((0, 2, 4)), st.integers(0, 3))
    )


def by_offset(given: list[StateBatch] | tuple[StateBatch, ...]) -> dict[int, tuple[int, int]]:
    """The state of each offset: the most deliveries, and then the largest state, apply."""
    found: dict[int, tuple[int, int]] = {}
    for first, last, state, deliveries in given:
        for offset in range(first, last + 1):
            found[offset] = max(found.get(offset, (-1, -1)), (deliveries, state))
    return found


@given(batches())
def test_combined_batches_have_the_state_of_each_offset(given: list[StateBatch]) -> None:
    combined = combine(given)
    assert by_offset(combined) == by_offset(given)
    assert sum(batch.size for batch in combined) == len(by_offset(given)), "they do not overlap"
    assert all(one.last + 1 != other.first or one[2:] != other[2:] for one, other in pairwise(combined)), "fewest"


@given(batches(), st.integers(0, 15))
def test_clipped_batches_have_only_later_offsets(given: list[StateBatch], start: int) -> None:
    later = {offset: state for offset, state in by_offset(given).items() if offset >= start}
    assert by_offset(clip(given, start)) == later
