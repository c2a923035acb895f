"""Unused groups, and the offsets that expire."""

from __future__ import annotations

from tests.fakes.history import NOON, History, at, hours
from tests.unit.history.transform.conftest import Show

SWEPT = hours(-2)


def days(number: float) -> float:
    return hours(24 * number)


def scene(history: History) -> None:
    _in_use(history)
    _empty(history)
    _deleted(history)


def _in_use(history: History) -> None:
    history.snapshot("u-live", hours(-1), 1, ["a"])
    history.commit("u-live", 590, 1)
    history.commit("u-live", 595, None, partition=1)
    history.commit("u-simple", 590, 1)
    history.commit("u-1970", -NOON.timestamp() + hours(1), 1)
    history.sweep(SWEPT, "u-1970", {("orders", 0): 1})
    history.snapshot("u-stuck", hours(-3), 1, ["a"])
    history.commit("u-stuck", days(-6.9), 1)  # its offsets stay as long as it has members
    history.sweep(SWEPT, "u-stuck", {("orders", 0): 1})
    history.snapshot("u-silent", hours(-1.5), 1, ["a"])
    history.member("u-share", hours(-1.5), "a", kind="share")
    for subject in ("group", "target", "a"):
        history.epoch("u-share", hours(-1.5), subject, 1, kind="share")
    history.sweep(SWEPT, "u-swept", {("orders", 0): 1}, kind="consumer", state="Empty")


def _empty(history: History) -> None:
    history.commit("e-idle", days(-6.8), 5)
    history.commit("e-idle", days(-6.7), 6, partition=1, expire_time=at(hours(2)), value_version=1)
    history.snapshot("e-idle", days(-6.6), 2, state_time=at(days(-6.5)))
    history.commit("e-fresh", days(-6.9), 5)
    history.snapshot("e-fresh", 100, 3)
    # Never had members: one offset is due, one soon, one later.
    for partition, age in enumerate((7.25, 6.5, 3)):
        history.commit("e-simple", days(-age), 7, partition=partition)
    # Of a newer group offsets are counted one by one, too.
    history.member("e-next", days(-6.9), "a")
    history.epoch("e-next", days(-6.9), "group", 1)
    history.commit("e-next", days(-6.75), 8)
    history.commit("e-next", days(-4), 8, partition=1)
    history.member("e-next", days(-3), "a", gone=True)
    history.epoch("e-next", days(-3), "group", 2)
    for group in ("e-idle", "e-fresh", "e-simple", "e-next"):
        history.sweep(SWEPT, group, {("orders", partition): 1 for partition in range(3)}, state="Empty")
    # Somebody commits into it who is no member.
    history.snapshot("e-used", hours(-1), 2)
    history.commit("e-used", 500, 1)

    _left(history)


def _left(history: History) -> None:
    """Groups with members, and offsets of two topics that are due; they subscribe to one of them, ``orders``."""
    for group in ("l-classic", "l-connect", "l-next", "l-regex", "l-moving", "l-streams", "l-rejoined"):
        for topic in ("orders", "old"):
            history.commit(group, days(-6.75), 9, topic=topic)
        history.sweep(SWEPT, group, {("orders", 0): 9, ("old", 0): 9})
    history.snapshot("l-classic", days(-6.9), 1, ["a", "b"], topics={"b": ["old"]})
    history.snapshot("l-classic", days(-6), 2, ["a"])
    history.snapshot("l-connect", days(-6), 1, ["a"], protocol_type="connect")
    for group, columns in {"l-next": {}, "l-moving": {}, "l-regex": {"topic_regex": "o.*"}}.items():
        history.member(group, days(-6), "a", **columns)
        for subject in ("group", "target", "a") if group != "l-moving" else ("group", "target"):
            history.epoch(group, days(-6), subject, 1)
    history.member("l-streams", days(-6), "a", kind="streams", topics=None)
    for subject in ("group", "target", "a"):
        history.epoch("l-streams", days(-6), subject, 1, kind="streams")
    # A member that left does not count anymore, one that joined does.
    history.member("l-rejoined", days(-6), "a")
    history.member("l-rejoined", days(-5), "a", gone=True)
    history.member("l-rejoined", days(-5), "b", topics=["old"])
    for subject in ("group", "target", "b"):
        history.epoch("l-rejoined", days(-5), subject, 2)


def _deleted(history: History) -> None:
    history.commit("d-group", hours(-1), 1)
    history.snapshot("d-group", hours(-1), 2)
    history.commit("d-group", 50, None)
    history.snapshot("d-group", 50, None)
    history.commit("d-offsets", 10, 1)
    history.commit("d-offsets", 60, None)
    for group in ("c-again", "c-found"):
        history.snapshot(group, hours(-3), 1, ["a"])
        history.commit(group, hours(-3), 1)
        history.commit(group, 300, 2)
    history.sweep(SWEPT, "c-found", {("orders", 0): 1})
    history.snapshot("d-vanished", hours(-3), 1, ["a"])
    history.commit("d-vanished", hours(-3), 1)


def test_stale_status_of_each_group(show: Show) -> None:
    found = {group: status for group, status in show("stale", "group", "status") if group[:2] in ("u-", "e-", "d-")}
    assert found == {
        "u-live": "LIVE",
        "u-simple": "LIVE",
        "u-1970": "STALE",
        "u-stuck": "STALE",
        "u-silent": "STALE",
        "u-share": "LIVE",
        "u-swept": "EMPTY",
        "e-idle": "EMPTY",
        "e-fresh": "EMPTY",
        "e-simple": "EMPTY",
        "e-next": "EMPTY",
        "e-used": "LIVE",
        "d-group": "DELETED",
        "d-offsets": "DELETED",
        "d-vanished": "DELETED",
    }


def test_stale_rows_have_last_activity(show: Show) -> None:
    columns = ("kind", "state", "partitions", "last_commit", "commit_age_ms", "last_event", "deleted_at")
    assert show("stale", *columns, group="u-live") == [
        ("classic", "Stable", 1, at(590), 10_000, at(hours(-1)), None),
    ]
    assert show("stale", *columns, group="u-simple") == [(None, None, 1, at(590), 10_000, None, None)]
    # A time that cannot be true has no age.
    assert show("stale", "last_commit", "commit_age_ms", group="u-1970") == [(at(hours(1) - NOON.timestamp()), None)]
    assert show("stale", *columns, group="u-swept") == [("consumer", "Empty", 1, None, None, None, None)]
    assert show("stale", "group", "deleted_at", status="DELETED")[:3] == [
        ("d-group", at(50)),
        ("d-offsets", at(60)),
        ("d-vanished", at(SWEPT)),
    ]


def test_offsets_of_topics_that_members_left_expire(show: Show) -> None:
    found = [row for row in show("expiring", "group", "topic") if row[0].startswith("l-")]
    assert found == [("l-classic", "old"), ("l-next", "old"), ("l-rejoined", "orders")]


def test_group_that_a_commit_creates_after_a_sweep_that_missed_it_is_empty(show: Show) -> None:
    columns = ("since", "until", "state", "kind", "source")
    dead, empty = show("group_states", *columns, group="c-again")
    # The scenes of other modules, which are in the same history, have sweeps, too.
    assert at(hours(-3)) < dead[0] <= at(SWEPT)
    assert (dead[1:], empty) == (
        (at(300), "Dead", "classic", "baseline"),
        (at(300), None, "Empty", "classic", "log"),
    )
    assert show("memberships", "member_id", group="c-again") == []
    assert show("stale", "status", "state", group="c-again") == [("LIVE", "Empty")]
    # The sweep found it: the commit is of the same group.
    assert show("group_states", "since", "until", "state", group="c-found") == [(at(hours(-3)), None, "Stable")]


def test_group_missing_in_a_sweep_is_deleted(show: Show) -> None:
    assert show("group_states", "since", "until", "state", "source", group="d-vanished") == [
        (at(SWEPT), None, "Dead", "baseline"),
    ]
    assert show("memberships", "member_id", group="d-vanished") == []
    assert show("memberships", "member_id", "until", group="u-stuck") == [("a", None)]


def test_expiring_offsets_have_start_and_expiry(show: Show) -> None:
    columns = ("group", "partition", "counted_from", "expires_at", "empty_since")
    assert show("expiring", *columns) == [
        ("e-idle", 0, "empty", at(days(0.5)), at(days(-6.5))),
        ("e-idle", 1, "expire_time", at(hours(2)), at(days(-6.5))),
        ("e-next", 0, "commit", at(days(0.25)), at(days(-3))),
        ("e-simple", 0, "commit", at(days(-0.25)), None),
        ("e-simple", 1, "commit", at(days(0.5)), None),
        ("l-classic", 0, "commit", at(days(0.25)), None),
        ("l-next", 0, "commit", at(days(0.25)), None),
        ("l-rejoined", 0, "commit", at(days(0.25)), None),
    ]
    left = (days(-0.25) - 600) * 1000
    assert show("expiring", "left_ms", "committed_offset", group="e-simple")[0] == (left, 7)
