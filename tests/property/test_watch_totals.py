"""The shortcut for the totals of the usual group: the same result as the rows of the lag view."""

from __future__ import annotations

from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Assignment, Raw, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupType, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.rates import Place
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.watch.state.totals import Totalling, Totals, _from_rows

small = st.integers(0, 3)
topics = st.sampled_from(["t", "u"])
offsets = st.one_of(st.none(), st.integers(0, 9))
commits = st.builds(Commit, small, st.integers(0, 9), st.one_of(st.none(), st.integers(0, 2)))
assignments = st.one_of(
    st.lists(st.tuples(topics, st.lists(small, unique=True)), max_size=2, unique_by=lambda pair: pair[0]).map(
        assignment_of
    ),
    st.just(Assignment(raw=Raw(b"x", "unknown"))),
)
members = st.lists(assignments, max_size=2).map(
    lambda each: tuple(Member(str(at), "c", "/h", assignment) for at, assignment in enumerate(each))
)


@st.composite
def groups(draw: st.DrawFn) -> GroupOffsets:
    whole = draw(st.booleans())  # mostly the usual group: commits on all partitions, with known log end offsets
    held = draw(
        st.dictionaries(topics, st.lists(commits, min_size=1, max_size=3, unique_by=lambda each: each.partition))
    )
    logs = (
        {
            topic: {each.partition: LogOffsets(0, draw(st.integers(0, 9))) for each in some}
            for topic, some in held.items()
        }
        if whole
        else draw(st.dictionaries(topics, st.dictionaries(small, st.builds(LogOffsets, offsets, offsets), max_size=3)))
    )
    epochs = draw(st.dictionaries(topics, st.dictionaries(small, st.integers(0, 2))))
    unset = draw(st.one_of(st.just({}), st.dictionaries(topics, st.just((3,)))))
    ids = draw(st.dictionaries(topics, st.integers(1, 2)))
    only = draw(st.one_of(st.just(frozenset[str]()), st.just(frozenset({"t"}))))
    group = Group(
        "g",
        draw(st.sampled_from([GroupType.CLASSIC, GroupType.CONSUMER, GroupType.STREAMS])),
        "Stable",
        "consumer",
        "",
        Node(0, "h", 1),
        draw(st.one_of(st.none(), members)),
    )
    kept = {topic: tuple(some) for topic, some in held.items() if not only or topic in only}
    return GroupOffsets(
        group,
        GroupCommits("g", kept, MappingProxyType(unset)),
        Logs(logs, epochs=MappingProxyType(epochs), topic_ids=MappingProxyType(ids)),
        only,
    )


@given(groups())
def test_totals_of_the_usual_group_equal_those_of_its_rows(offsets: GroupOffsets) -> None:
    (short, _), rows = Totalling().of(offsets), _from_rows(offsets)
    assert short[:4] == rows[:4]
    assert short.known == rows.known
    assert by_place(short) == by_place(rows)


def by_place(totals: Totals) -> dict[Place, tuple[int | None, ...]]:
    flat = [
        (topic, number, known)
        for (topic, numbers), known in zip(totals.places, totals.topic_ids, strict=True)
        for number in numbers
    ]
    each = zip(totals.committed, totals.ends, totals.starts, totals.epochs, strict=True)
    return {(topic, number): (known, *values) for (topic, number, known), values in zip(flat, each, strict=True)}
