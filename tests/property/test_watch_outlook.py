"""When a watched group is caught up: the same result as from all partitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.model import rates
from kgroups.model.rates import Reading, unbroken
from kgroups.model.status import Known
from kgroups.watch.state.totals import Totals
from kgroups.watch.state.watching import _outlook

PLACES = (("t", (0, 1)),)
members = st.one_of(st.none(), st.sampled_from([frozenset[str](), frozenset({"m"}), frozenset({"m"})]))
steps = st.tuples(
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.one_of(st.none(), st.integers(-1, 3)), st.integers(0, 3)),
    members,
)


@st.composite
def histories(draw: st.DrawFn) -> list[Reading]:
    moves = draw(st.booleans())
    fixed = draw(st.one_of(st.just(()), st.tuples(members)))
    committed, ends, found = (0, 0), (2, 0), list[Reading]()
    for at, (consumed, written, seen) in enumerate(draw(st.lists(steps, min_size=1, max_size=8))):
        consumed, written = (consumed, written) if moves else ((0, 0), (0, 0))
        committed = (committed[0] + consumed[0], committed[1] + consumed[1])
        ends = (ends[0] + (written[0] or 0), ends[1] + written[1])
        shown = (None if written[0] is None else ends[0], ends[1])
        of = fixed[0] if fixed else seen
        found.append(Reading(at * 1000, PLACES, committed, shown, (0, 0), (0, 0), (7,), of))
    return list(unbroken(found))


@given(histories())
def test_outlook_is_that_of_all_partitions(readings: list[Reading]) -> None:
    """Whatever is skipped, because it is mostly in vain."""
    last = readings[-1]
    pairs = list(zip(last.ends, last.committed, strict=True))
    total = sum(max(0, end - at) for end, at in pairs if end is not None)
    totals = Totals(total, total, 0, False, *last[1:7], Known("Stable", None, total, total))
    idle = all(each._replace(at=0) == last._replace(at=0) for each in readings)
    found = [_outlook(totals, readings, None, shared=False, idle=known) for known in {False, idle}]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rates, "may_have_paces", lambda _: True)
        whole = rates.outlook(readings, [None if end is None else end - at for end, at in pairs])
    assert set(found) == {whole} or not any(end is not None and end != at for end, at in pairs)
