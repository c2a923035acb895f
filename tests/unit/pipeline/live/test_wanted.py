"""Which filters are taken, what they leave over, and which ones Spark keeps."""

from __future__ import annotations

import pytest
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    In,
    IsNotNull,
    Not,
    StringContains,
    StringStartsWith,
)

from kgroups.model.cluster import Node
from kgroups.model.groups import ListedGroup
from kgroups.pipeline.live.tables import ASSIGNMENTS, FAILURES, GROUPS, LIVE, MEMBERS, OFFSETS
from kgroups.pipeline.live.wanted import narrow
from kgroups.pipeline.tables import Table

NODE = Node(1, "host", 9092)
GROUP, KIND, STATE, TOPIC = ("group",), ("kind",), ("state",), ("topic",)
LISTED = (
    ListedGroup("a", "consumer", NODE, "Stable", "Classic"),
    ListedGroup("ab", "consumer", NODE, "Empty", "Consumer"),
    ListedGroup("b", "consumer", NODE, None, None),
)


def kept(table: Table, *filters: Filter) -> list[str]:
    wanted, _ = narrow(table, filters)
    return [group.group_id for group in LISTED if wanted.keeps(group)]


def left(table: Table, *filters: Filter) -> list[Filter]:
    return narrow(table, filters)[1]


@pytest.mark.parametrize("table", [GROUPS, MEMBERS, ASSIGNMENTS, OFFSETS], ids=lambda table: table.name)
@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ((), ["a", "ab", "b"]),
        ((EqualTo(GROUP, "a"),), ["a"]),
        ((EqualTo(GROUP, "nobody"),), []),
        ((In(GROUP, ("a", "b", "x")),), ["a", "b"]),
        ((In(GROUP, ("a", None)),), ["a"]),
        ((In(GROUP, (None,)),), []),
        ((In(GROUP, ()),), []),
        ((EqualTo(GROUP, None),), []),
        ((StringStartsWith(GROUP, "a"),), ["a", "ab"]),
        ((StringStartsWith(GROUP, ""),), ["a", "ab", "b"]),
        ((StringStartsWith(GROUP, "a"), StringStartsWith(GROUP, "ab")), ["ab"]),
        ((StringStartsWith(GROUP, "a"), StringStartsWith(GROUP, "b")), []),
        ((In(GROUP, ("a", "b")), In(GROUP, ("ab", "b"))), ["b"]),
        ((EqualTo(GROUP, "a"), EqualTo(GROUP, "b")), []),
        ((EqualTo(GROUP, "ab"), StringStartsWith(GROUP, "a")), ["ab"]),
    ],
    ids=str,
)
def test_names_are_decided_here(table: Table, filters: tuple[Filter, ...], names: list[str]) -> None:
    assert kept(table, *filters) == names
    assert left(table, *filters) == []


def test_states_and_kinds_spare_questions_and_are_applied_again() -> None:
    """What the list does not tell may be anything."""
    for table, each, names in (
        (GROUPS, EqualTo(STATE, "Stable"), ["a", "b"]),
        (GROUPS, In(STATE, ("Empty", "Dead")), ["ab", "b"]),
        (GROUPS, EqualTo(STATE, "stable"), ["b"]),
        (GROUPS, EqualTo(KIND, "consumer"), ["ab", "b"]),
        (MEMBERS, In(KIND, ("classic",)), ["a", "b"]),
    ):
        assert kept(table, each) == names
        assert left(table, each) == [each]


@pytest.mark.parametrize("table", [ASSIGNMENTS, OFFSETS], ids=lambda table: table.name)
def test_topics(table: Table) -> None:
    wanted, rest = narrow(table, [In(TOPIC, ("t", "u")), In(TOPIC, ("u", "v"))])
    assert (wanted.topics, rest) == (frozenset({"u"}), [])
    assert kept(table, EqualTo(TOPIC, "t")) == ["a", "ab", "b"]
    # No topic passes, and that is not the same as any.
    assert kept(table, EqualTo(TOPIC, "t"), EqualTo(TOPIC, "u")) == []
    assert kept(table, In(TOPIC, (None,))) == []


@pytest.mark.parametrize("table", LIVE.values(), ids=LIVE)
@pytest.mark.parametrize(
    "each",
    [
        Not(EqualTo(GROUP, "a")),
        GreaterThan(GROUP, "a"),
        StringContains(GROUP, "a"),
        EqualNullSafe(GROUP, "a"),
        IsNotNull(GROUP),
        EqualTo(GROUP, 1),
        EqualTo(("group", "inner"), "a"),
        StringStartsWith(TOPIC, "t"),
        StringStartsWith(STATE, "S"),
        EqualTo(("lag",), 1),
    ],
    ids=str,
)
def test_what_is_not_ours_is_left_to_spark(table: Table, each: Filter) -> None:
    assert kept(table, each) == ["a", "ab", "b"]
    assert left(table, each) == [each]


def test_columns_that_a_table_does_not_have_or_that_mean_something_else() -> None:
    everybody = ["a", "ab", "b"]
    assert kept(MEMBERS, EqualTo(STATE, "Stable")) == everybody
    assert kept(OFFSETS, EqualTo(KIND, "classic")) == everybody
    assert kept(GROUPS, EqualTo(TOPIC, "t")) == everybody
    assert kept(FAILURES, EqualTo(GROUP, "a"), EqualTo(("name",), "a")) == everybody
