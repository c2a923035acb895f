"""Latest committed offsets, and the rate of commits."""

from __future__ import annotations

from tests.fakes.history import History, at, hours
from tests.unit.history.transform.conftest import Show

SWEPT = hours(-2)
BEFORE = hours(-3)


def scene(history: History) -> None:
    history.commit("order", 10, 100, committed=15)
    history.commit("order", 10, 120, committed=11)  # later in the log, earlier by the clock
    history.commit("order", 10, 7, partition=1)
    history.commit("order", 10, 8, partition=1)  # the same time
    history.commit("order", 601, 999)  # behind the span

    history.commit("deleted", 10, 1)
    history.commit("deleted", 11, None)
    history.commit("deleted", 10, 5, partition=1)
    history.commit("deleted", 11, None, partition=1)
    history.hole(40)
    history.commit("deleted", 12, 2, partition=1, value_version=1)

    # A sweep two hours ago found some of it.
    history.commit("swept", BEFORE, 10)
    history.commit("swept", BEFORE, 20, partition=1)
    history.commit("swept", 10, 30, partition=2)
    history.sweep(SWEPT, "swept", {("orders", 0): 11, ("orders", 3): 40})
    history.commit("vanished", BEFORE, 1)
    history.sweep(SWEPT - 60, "vanished", {("orders", 0): 1})
    # Later ones were not complete: what they do not say means nothing.
    history.sweep(SWEPT + 60, "swept", {("orders", 3): 41, ("orders", 4): 50}, complete=False)

    history.commit("rate", -5, 90)
    history.commit("rate", 1, 100)
    history.commit("rate", 1, 10, partition=1)
    history.commit("rate", 59.999, 130, committed=1)
    history.commit("rate", 60, 110)
    history.commit("rate", 61, None)
    history.commit("rate", 62, 500)
    history.commit("rate", 200, 500)

    # Partition 1 of the log was compacted before.
    history.commit("hidden", -300, 10, log_partition=1)
    history.commit("hidden", 30, 20, log_partition=1)
    history.hole(1000, log_partition=1)
    history.commit("hidden", 150, 2000, log_partition=1)
    history.commit("hidden", 170, 2010, log_partition=1)
    history.commit("hidden", 190, 2020, log_partition=1)


def test_latest_offset_is_the_last_in_the_log(show: Show) -> None:
    assert show("latest_offsets", "partition", "committed_offset", "source", group="order") == [
        (0, 120, "log"),
        (1, 8, "log"),
    ]


def test_tombstone_deletes_earlier_commits_only(show: Show) -> None:
    assert show("latest_offsets", "partition", "committed_offset", group="deleted") == [(1, 2)]


def test_only_a_complete_sweep_proves_deletion(show: Show) -> None:
    columns = ("partition", "committed_offset", "log_time", "source")
    assert show("latest_offsets", *columns, group="swept") == [
        (0, 10, at(BEFORE), "log"),
        (2, 30, at(10), "log"),
        (3, 41, at(SWEPT + 60), "baseline"),
        (4, 50, at(SWEPT + 60), "baseline"),
    ]
    assert show("latest_offsets", "partition", group="vanished") == []


def test_commit_rate_counts_commits_and_sums_progress(show: Show) -> None:
    columns = ("bucket", "commits", "requests", "partitions", "progress", "rewound", "complete")
    assert show("commit_rate", *columns, group="rate") == [
        (at(0), 3, 1, 2, 40, 0, True),
        (at(60), 2, 2, 1, 0, 20, True),
        (at(180), 1, 1, 1, 0, 0, True),
    ]


def test_commit_rate_of_compacted_history_is_incomplete(show: Show) -> None:
    """The bucket in which history begins to be whole is not complete, and no step leads into it from before."""
    assert show("commit_rate", "bucket", "commits", "progress", "complete", group="hidden") == [
        (at(0), 1, 10, False),
        (at(120), 2, 10, False),
        (at(180), 1, 10, True),
    ]
