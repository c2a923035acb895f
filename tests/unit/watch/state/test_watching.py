"""Rates and changes between refreshes of a watch."""

from __future__ import annotations

from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.watch.state.cluster_totals import cluster_totals
from kgroups.watch.state.totals import Totalling
from kgroups.watch.state.watching import KEPT, Watch


def group(
    name: str = "g",
    committed: int | None = 0,
    end: int | None = 100,
    *,
    state: str = "Stable",
    members: tuple[str, ...] = ("a",),
    epoch: int | None = None,
) -> GroupOffsets:
    who = tuple(Member(each, "c", "/h", assignment_of([("t", [at])])) for at, each in enumerate(members))
    commits = {} if committed is None else {"t": (Commit(0, committed),)}
    logs = Logs({"t": {0: LogOffsets(0, end)}} if end is not None else {}, {})
    described = Group(name, "Classic", state, "consumer", "range", Node(0, "h", 1), who, epoch)
    return GroupOffsets(described, GroupCommits(name, commits), logs)


def test_watch_computes_rates_and_catch_up_time() -> None:
    watch = Watch()
    (first,) = watch.add(0, [group(committed=0, end=100)])
    assert (first.rate_in, first.rate_out, first.catch_up_ms, first.changed) == (None, None, None, frozenset())
    (row,) = watch.add(2000, [group(committed=60, end=140)])
    assert (row.rate_in, row.rate_out, row.total_lag) == (20, 30, 80)
    assert (row.catch_up_ms, row.falls_behind) == (None, False)  # one commit: the lag before it is unknown
    assert row.changed == {"total_lag"}
    assert row.lags == (100, 80)
    for at in range(3):
        (row,) = watch.add(4000 + 2000 * at, [group(committed=200 * at, end=1000 + 2 * at)], None)
    assert (row.rate_in, row.rate_out, row.catch_up_ms) == (1, 100, 6101)  # from 802 to 604


def test_watch_group_slower_than_producers_never_catches_up() -> None:
    watch = Watch()
    watch.add(0, [group(committed=0, end=100)])
    assert watch.add(1000, [group(committed=10, end=110)])[0].catch_up_ms is None
    assert watch.add(2000, [group(committed=110, end=110)])[0].catch_up_ms == 0


def test_watch_partition_that_appears_or_vanishes_does_not_change_rates() -> None:
    watch = Watch()
    watch.add(0, [group(committed=None)])
    (row,) = watch.add(1000, [group(committed=50_000, end=60_000)])
    assert (row.rate_in, row.rate_out) == (None, None)
    assert watch.add(2000, [group(committed=50_000, end=None)])[0].total_lag is None


def test_watch_sums_up_the_usual_group_without_rows() -> None:
    totals, topics = Totalling().of(group(committed=40))
    assert topics is not None and (totals.total_lag, totals.committed, totals.ends) == (60, (40,), (100,))


def test_watch_names_commits_beyond_the_end_of_the_log_and_lost_records() -> None:
    """Their lag is 0, or too small; the lag view counts them, too."""
    (row,) = Watch().add(0, [group(committed=150, end=100)])
    assert (row.total_lag, row.ahead, row.data_lost, row.remark) == (0, 1, 0, "1 ahead")
    assert row.catch_up_ms is None
    found = group(committed=10, end=100)
    lost = found._replace(logs=Logs({"t": {0: LogOffsets(60, 100)}}, {}))
    (row,) = Watch().add(0, [lost])
    assert (row.ahead, row.data_lost, row.remark) == (0, 1, "1 data lost")
    (total,) = cluster_totals([row, row], [""], ())
    assert (total.ahead, total.data_lost) == (0, 2)
    (row,) = Watch().add(0, [found])
    assert (row.ahead, row.data_lost, row.remark) == (0, 0, "")


def test_watch_rates_start_again_when_a_partition_is_added() -> None:
    watch = Watch()
    watch.add(0, [both({0: 100}, committed=(50,))])
    (row,) = watch.add(2000, [both({0: 110, 1: 500}, committed=(50, 400))])
    assert (row.rate_in, row.rate_out) == (None, None)
    (row,) = watch.add(4000, [both({0: 110, 1: 500}, committed=(50, 400))])
    assert (row.rate_in, row.rate_out) == (0, 0)


def test_watch_counts_rebalances() -> None:
    def count(*looks: GroupOffsets) -> int:
        watch = Watch()
        return [watch.add(at * 1000, [look]) for at, look in enumerate(looks)][-1][0].rebalances

    assert count(group(), group()) == 0
    assert count(group(), group(state="PreparingRebalance"), group(state="CompletingRebalance"), group()) == 1
    assert count(group(), group(members=("a", "b"))) == 1
    assert count(group(), group(state="PreparingRebalance"), group(members=("a", "b"))) == 1
    assert count(group(epoch=3), group(epoch=5, members=("a", "b"))) == 2


def static(client: str, member: str, instance: str | None = "pod-0") -> GroupOffsets:
    found = group()
    who = (Member(member, client, "/h", assignment_of([("t", [0])]), instance),)
    return found._replace(group=found.group._replace(members=who))


def test_watch_names_instance_ids_that_two_clients_use() -> None:
    """As explain, check, and history do; the members are those of the samples."""

    def texts(*samples: tuple[str, str, str | None]) -> list[str]:
        watch = Watch()
        return [watch.add(2000 * at, [static(*each)])[0].members_text for at, each in enumerate(samples)]

    turns = [("ab"[at % 2], f"m-{at}", "pod-0") for at in range(5)]
    assert texts(*turns) == ["1", "1", "1", "1 (1 shared ID)", "1 (1 shared ID)"]
    assert texts(*(("a", member, instance) for _, member, instance in turns))[-1] == "1 (1 replaced ID)"
    assert texts(*((client, member, None) for client, member, _ in turns))[-1] == "1"
    assert texts(("a", "m-0", "pod-0"), ("b", "m-1", "pod-0"), ("b", "m-1", "pod-0"))[-1] == "1"


def test_watch_forgets_turns_of_an_instance_id_after_ten_minutes() -> None:
    watch = Watch()
    for at in range(5):
        (row,) = watch.add(2000 * at, [static("ab"[at % 2], f"m-{at}")])
    assert [(each.instance_id, each.clients) for each in row.shared] == [("pod-0", ("a@h", "b@h"))]
    (row,) = watch.add(600_000, [], None)
    assert row.shared
    (row,) = watch.add(608_000, [], None)
    assert not row.shared
    watch.add(610_000, [])
    assert watch.add(612_000, [static("a", "m-9")])[0].shared == ()


def test_watch_keeps_failed_groups_as_stale_and_drops_deleted_ones() -> None:
    watch = Watch()
    watch.add(0, [group("a"), group("b"), group("c")])
    rows = watch.add(1000, [group("a")], ["b"])
    assert [(row.group, row.stale) for row in rows] == [("a", False), ("b", True)]
    rows = watch.add(2000, [], None)
    assert [(row.group, row.stale) for row in rows] == [("a", True), ("b", True)]
    assert watch.add(3000, []) == []


def both(ends: dict[int, int], committed: tuple[int, ...] = (100, 0), name: str = "g") -> GroupOffsets:
    """A group without members, on two partitions; the leaders of those without an end are down."""
    commits = GroupCommits(name, {"t": tuple(Commit(at, offset) for at, offset in enumerate(committed))})
    logs = Logs({"t": {at: LogOffsets(0, end) for at, end in ends.items()}}, {})
    return GroupOffsets(Group(name, "Classic", "Empty", "consumer", "", Node(0, "h", 1)), commits, logs)


UP, DOWN = {0: 100, 1: 1000}, {0: 100}


def test_watch_lag_is_unknown_while_a_leader_is_down() -> None:
    watch = Watch()
    (row,) = watch.add(0, [both(UP)])
    assert (row.total_lag, row.unknown_partitions, row.lag_age_ms) == (1000, 0, 0)
    (row,) = watch.add(2000, [both(DOWN)])
    assert (row.total_lag, row.catch_up_ms, row.changed, row.stale) == (None, None, frozenset(), False)
    assert (row.known_lag, row.unknown_partitions, row.last_lag, row.lag_age_ms) == (0, 1, 1000, 2000)
    assert (row.rate_in, row.rate_out) == (None, 0)
    assert row.lags == (1000, None)
    (row,) = watch.add(4000, [both(UP)])
    assert (row.total_lag, row.changed, row.lag_age_ms) == (1000, frozenset(), 0)
    (row,) = watch.add(6000, [both({0: 100, 1: 1200})])
    assert (row.total_lag, row.changed) == (1200, {"total_lag"})
    assert row.rate_in == 200 / 6  # since the first look, which saw both logs


def test_watch_lag_is_unknown_while_offsets_may_be_hidden() -> None:
    watch = Watch()
    for at, hidden, total in ((0, None, 1000), (1, "needs DESCRIBE on CLUSTER", None), (2, None, 1000)):
        (row,) = watch.add(at * 1000, [both(UP)._replace(hidden=hidden)])
        assert (row.total_lag, row.known_lag) == (total, 1000)


def test_watch_last_known_lag_outlives_the_history() -> None:
    watch = Watch()
    watch.add(0, [both(UP)])
    for at in range(1, KEPT + 2):
        (row,) = watch.add(at * 1000, [both(DOWN)])
    assert (row.last_lag, row.lag_age_ms) == (1000, (KEPT + 1) * 1000)
    (row,) = watch.add(100_000, [], None)
    assert (row.stale, row.total_lag, row.last_lag, row.lag_age_ms) == (True, None, 1000, 100_000)
    assert watch.add(101_000, []) == []
    (row,) = watch.add(102_000, [both(DOWN)])
    assert row.last_lag is None and row.lag_age_ms is None


def test_watch_lag_that_was_never_known_has_no_last_value() -> None:
    (row,) = Watch().add(0, [both(DOWN, committed=(60, 0))])
    assert (row.total_lag, row.known_lag, row.last_lag, row.unknown_partitions) == (None, 40, None, 1)


def test_watch_history_is_bounded() -> None:
    watch = Watch()
    for at in range(3 * KEPT):
        (row,) = watch.add(at * 1000, [group(committed=at, end=1000)])
    assert len(row.lags) == KEPT
