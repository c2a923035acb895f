"""Rebalances, group states, and memberships."""

from __future__ import annotations

from tests.fakes.history import History, at
from tests.unit.history.transform.conftest import Show

LISTS = ("generation", "joined", "left", "restarted", "resubscribed")


def scene(history: History) -> None:
    _classic(history)
    _modern(history)
    _of_newer_brokers(history)
    _upgraded(history)

    # What compaction left of a group: its last rebalance but one, and what came since.
    history.snapshot("hidden-app", 30, 7, ["a", "b"], log_partition=1)
    history.snapshot("hidden-app", 160, 9, ["b", "c"], log_partition=1)


def _classic(history: History) -> None:
    history.commit("app", 8, 10, committed=30)
    history.snapshot("app", 10, 1, ["a", "b", "s1=i"])
    history.commit("app", 12, 20)
    history.commit("app", 11, 30, partition=1)  # the clock went back; this one is the last before
    history.snapshot("app", 20, 2, ["c", "a", "s2=i"])
    history.commit("app", 25, 40)
    history.snapshot("app", 30, 2, ["c", "a", "s3=i"])  # a static member came back: no rebalance
    history.snapshot("app", 40, 4, ["c", "a", "s4=i"], topics={"a": ["orders", "bills"]})
    history.snapshot("app", 50, 5, ["c", "a", "s4=i"], topics={"a": ["bills", "orders"]})
    history.snapshot("app", 60, 6)
    history.snapshot("app", 70, None)
    history.snapshot("app", 80, 1, ["a"])
    history.snapshot("app", 601, 2, ["a", "z"])


def _modern(history: History) -> None:
    group = "next"

    def epoch(seconds: float, number: int) -> None:
        history.epoch(group, seconds, "group", number)
        history.epoch(group, seconds, "target", number)

    history.member(group, 0, "m1")
    epoch(0, 1)
    history.epoch(group, 0, "m1", 1)
    # Another one joins; its target takes a second, and the first must give something up.
    history.member(group, 10, "m2")
    history.epoch(group, 10, "group", 2)
    history.epoch(group, 11, "target", 2)
    history.epoch(group, 11, "m2", 2, "unreleased_partitions")
    history.epoch(group, 12, "m1", 1, "unrevoked_partitions")
    history.epoch(group, 13, "m1", 2)
    history.epoch(group, 15, "m2", 2)
    history.epoch(group, 17, "m2", 2)  # it says so again: that is no later convergence
    # A third; before all have its epoch, one leaves. For a moment the others look as if they had converged.
    history.member(group, 20, "m3")
    epoch(20, 3)
    history.epoch(group, 20, "m3", 3)
    history.epoch(group, 22, "m1", 3)
    history.epoch(group, 24, "m2", None)
    history.member(group, 24, "m2", gone=True)
    epoch(24, 4)
    history.epoch(group, 25, "m1", 4)
    history.epoch(group, 26, "m3", 4)
    # A static member, replaced by one that subscribes to something else; then another one changes its mind.
    history.member(group, 30, "s1=i")
    epoch(30, 5)
    for member in ("s1", "m1", "m3"):
        history.epoch(group, 31, member, 5)
    history.epoch(group, 40, "s1", None)
    history.member(group, 40, "s1", gone=True)
    history.member(group, 40, "s2=i", topics=["bills"])
    epoch(40, 6)
    history.member(group, 50, "m1", topic_regex="b.*")
    epoch(50, 7)
    for member in ("s2", "m1", "m3"):
        history.epoch(group, 52, member, 7)
    for member in ("s2", "m1", "m3"):
        history.epoch(group, 60, member, None)
        history.member(group, 60, member, gone=True)
    epoch(60, 8)
    history.epoch(group, 70, "target", None)
    history.epoch(group, 70, "group", None)


def _of_newer_brokers(history: History) -> None:
    """Generations start at 2; another group is compacted."""
    for group, epoch in (("next-new", 2), ("next-hidden", 8)):
        history.member(group, 5, "a")
        history.epoch(group, 5, "group", epoch)


def _upgraded(history: History) -> None:
    history.snapshot("upgraded", 10, 1, ["a"])
    history.snapshot("upgraded", 20, None)
    history.member("upgraded", 20, "a")
    history.epoch("upgraded", 20, "group", 2)
    history.epoch("upgraded", 20, "target", 2)
    history.epoch("upgraded", 20, "a", 2)


def test_rebalance_lists_joined_and_left_members(show: Show) -> None:
    assert show("rebalances", "log_time", *LISTS, group="app") == [
        (at(10), 1, ["a", "b", "s1"], [], [], []),
        (at(20), 2, ["c"], ["b"], ["s2"], []),
        (at(40), 4, [], [], ["s4"], ["a"]),
        (at(50), 5, [], [], [], []),
        (at(60), 6, [], ["a", "c", "s4"], [], []),
        (at(80), 1, ["a"], [], [], []),
    ]
    columns = ("log_time", "kind", "previous_generation", "protocol", "leader", "members", "complete")
    assert show("rebalances", *columns, group="app")[1:5:3] == [
        (at(20), "classic", 1, "range", "c", 3, True),
        (at(60), "classic", 5, None, None, 0, True),
    ]


def test_rebalance_pause_spans_last_and_next_commit(show: Show) -> None:
    pauses = show("rebalances", "log_time", "pause_ms", group="app")
    assert pauses[:3] == [(at(10), 4_000), (at(20), 14_000), (at(40), None)]


def test_rebalance_without_earlier_history_has_unknown_members(show: Show) -> None:
    assert show("rebalances", *LISTS, "complete", group="hidden-app") == [
        (7, None, None, None, None, False),
        (9, ["c"], ["a"], [], [], True),
    ]
    assert show("rebalances", *LISTS, group="next-new") == [(2, ["a"], [], [], [])]
    assert show("rebalances", *LISTS, group="next-hidden") == [(8, None, None, None, None)]


def test_rebalance_converges_when_all_members_reach_the_epoch(show: Show) -> None:
    columns = ("generation", "log_time", "members", "target_ms", "converge_ms")
    assert show("rebalances", *columns, group="next") == [
        (1, at(0), 1, 0, 0),
        (2, at(10), 2, 1_000, 5_000),
        (3, at(20), 3, 0, None),
        (4, at(24), 2, 0, 2_000),
        (5, at(30), 3, 0, 1_000),
        (6, at(40), 3, 0, None),
        (7, at(50), 3, 0, 2_000),
        (8, at(60), 0, 0, None),
    ]


def test_rebalance_of_consumer_protocol_group_lists_members(show: Show) -> None:
    assert show("rebalances", *LISTS, group="next") == [
        (1, ["m1"], [], [], []),
        (2, ["m2"], [], [], []),
        (3, ["m3"], [], [], []),
        (4, [], ["m2"], [], []),
        (5, ["s1"], [], [], []),
        (6, [], [], ["s2"], []),
        (7, [], [], [], ["m1"]),
        (8, [], ["m1", "m3", "s2"], [], []),
    ]


def test_group_states_have_start_and_end(show: Show) -> None:
    assert show("group_states", "since", "until", "kind", "state", group="app") == [
        (at(10), at(60), "classic", "Stable"),
        (at(60), at(70), "classic", "Empty"),
        (at(70), at(80), "classic", "Dead"),
        (at(80), None, "classic", "Stable"),
    ]
    assert show("group_states", "since", "until", "state", group="next") == [
        (at(0), at(10), "Stable"),
        (at(10), at(15), "Reconciling"),
        (at(15), at(20), "Stable"),
        (at(20), at(26), "Reconciling"),
        (at(26), at(30), "Stable"),
        (at(30), at(31), "Reconciling"),
        (at(31), at(40), "Stable"),
        (at(40), at(52), "Reconciling"),
        (at(52), at(60), "Stable"),
        (at(60), at(70), "Empty"),
        (at(70), None, "Dead"),
    ]


def test_group_state_continues_across_type_change(show: Show) -> None:
    assert show("group_states", "since", "until", "kind", "state", group="upgraded") == [
        (at(10), at(20), "classic", "Stable"),
        (at(20), None, "consumer", "Stable"),
    ]


def test_memberships_have_start_and_end(show: Show) -> None:
    columns = ("member_id", "instance_id", "since", "until")
    assert show("memberships", *columns, group="app") == [
        ("a", None, at(10), at(60)),
        ("a", None, at(80), None),
        ("b", None, at(10), at(20)),
        ("c", None, at(20), at(60)),
        ("s1", "i", at(10), at(20)),
        ("s2", "i", at(20), at(30)),
        ("s3", "i", at(30), at(40)),
        ("s4", "i", at(40), at(60)),
    ]
    assert show("memberships", *columns, group="next") == [
        ("m1", None, at(0), at(60)),
        ("m2", None, at(10), at(24)),
        ("m3", None, at(20), at(60)),
        ("s1", "i", at(30), at(40)),
        ("s2", "i", at(40), at(60)),
    ]
    assert show("memberships", "member_id", "since", "complete", group="hidden-app") == [
        ("a", at(30), False),
        ("b", at(30), False),
        ("c", at(160), True),
    ]
    clients = show("memberships", "client_id", "client_host", group="upgraded")
    assert clients == [("app", "/10.0.0.1")] * 2
