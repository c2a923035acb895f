"""The comparison with the cluster: what groups commit meanwhile is no failure, and what cannot be known is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import ClusterUnreachable
from kgroups.history.extract.ranges import Ends
from kgroups.history.extract.reader import LogReader
from kgroups.history.load.clients import Clients
from kgroups.history.load.store import Identity
from kgroups.history.verify import cluster
from kgroups.history.verify.cluster import (
    ClusterState,
    Commit,
    Key,
    Now,
    Tail,
    check_cluster,
    check_latest,
    check_positions,
    read_tail,
)
from kgroups.model.placement import partition_of
from tests.fakes.offset_records import commit_key, commit_value, record_batch

KEY: Key = ("g", "t", 0)
AT = partition_of("g", 50)
STORED = {KEY: Commit(42, 7, "")}
IDENTITY = Identity("cluster-1", "__consumer_offsets", "2026-01-01", "topic-1")
SETTINGS = ClientSettings(parse_bootstrap("localhost:9092"))


def now(
    commits: Mapping[Key, Commit],
    *later: Commit | None,
    complete: bool = True,
    unread: Mapping[int, str] = {},
    holes: frozenset[int] = frozenset(),
) -> Now:
    groups = frozenset(key[0] for key in commits)
    return Now(commits, complete, groups, Tail({KEY: list(later)}, unread, holes, 50))


SAME, NEXT, OTHER = Commit(42, 7, ""), Commit(43, 7, ""), Commit(99, 7, "")
UNDECODED = Commit(None, None, "")


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (now({KEY: SAME}), "ok"),
        (now({KEY: Commit(42, None, "")}), "ok"),  # brokers before Kafka 2.1
        (now({KEY: OTHER}), "FAILED"),
        (now({KEY: Commit(42, 8, "")}), "FAILED"),
        (now({KEY: Commit(42, 7, "m")}), "FAILED"),
        (now({}), "FAILED"),
        (now({KEY: SAME, ("h", "t", 0): SAME}), "FAILED"),
        # Committed, or deleted, after the store's position.
        (now({KEY: NEXT}, NEXT), "ok"),
        (now({KEY: NEXT}, NEXT, OTHER), "ok"),
        (now({KEY: SAME}, NEXT), "ok"),
        (now({KEY: OTHER}, NEXT), "FAILED"),
        (now({}, NEXT, None), "ok"),
        (now({}, NEXT), "FAILED"),
        (now({KEY: NEXT}, None, NEXT), "ok"),
        # Unknown.
        (now({KEY: OTHER}, unread={AT: "an open transaction hides records"}), "unknown"),
        (now({KEY: OTHER}, unread={AT + 1: "an open transaction hides records"}), "FAILED"),
        (now({KEY: SAME}, unread={AT: "an open transaction hides records"}), "ok"),
        (now({}, holes=frozenset({AT})), "unknown"),
        (now({KEY: OTHER}, holes=frozenset({AT})), "FAILED"),
        (now({}, complete=False), "unknown"),
        (now({KEY: SAME}, complete=False), "unknown"),
        (now({KEY: OTHER}, complete=False), "FAILED"),
        (now({KEY: OTHER}, UNDECODED), "unknown"),
        (now({KEY: OTHER}, UNDECODED, NEXT), "unknown"),
    ],
)
def test_latest_offsets_are_compared(state: Now, status: str) -> None:
    check = check_latest(STORED, state)
    assert check.status == status
    assert (check.note is None) == (status == "ok")
    assert check.checked == len(STORED.keys() | state.commits.keys())


def test_offset_of_an_undecoded_commit_is_unknown() -> None:
    check = check_latest({KEY: UNDECODED}, now({KEY: SAME}))
    assert check.status == "unknown"
    assert (check.note or "").endswith("in the cluster; this version cannot decode the last commit")


def test_difference_names_both_offsets() -> None:
    assert check_latest(STORED, now({KEY: Commit(9, None, "m")})).note == (
        "g, t-0: 42 (leader epoch 7) in the store, 9 (metadata 'm') in the cluster"
    )
    assert (
        check_latest({}, now({KEY: SAME})).note == "g, t-0: no offset in the store, 42 (leader epoch 7) in the cluster"
    )


def test_log_that_cannot_be_read_is_unknown() -> None:
    check = check_latest(STORED, "no ACL")
    assert (check.status, check.note, check.failed) == ("unknown", "no ACL", None)


@pytest.mark.parametrize(
    ("positions", "topic_id", "failed", "note"),
    [
        ({3: 10}, "topic-1", 0, None),
        ({3: 5}, "topic-1", 0, None),
        ({3: 11}, "topic-1", 1, "__consumer_offsets-3 was read up to 11, but ends at 10"),
        ({9: 1}, "topic-1", 1, "__consumer_offsets-9 was read up to 1, but ends at 0"),
        ({3: 10}, "topic-2", 1, "__consumer_offsets was recreated"),
        ({3: 10}, None, 0, None),
    ],
)
def test_positions_are_compared_with_the_log(
    positions: dict[int, int], topic_id: str | None, failed: int, note: str | None
) -> None:
    check = check_positions(IDENTITY, positions, ClusterState(topic_id, {3: Ends(0, 10, 12)}, "unknown"))
    assert (check.status, check.failed, check.note) == ("FAILED" if failed else "ok", failed, note)


@pytest.mark.parametrize(("found", "status"), [("cluster-1", "ok"), ("cluster-2", "FAILED"), (None, "unknown")])
def test_cluster_must_be_that_of_the_store(found: str | None, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "cluster_id", lambda session: found)
    assert check_cluster(IDENTITY, Clients(SETTINGS)).status == status


class FakeReader(LogReader):
    def read(self, ranges: Sequence[Any], *, topic: str = "", batch: int = 0) -> Iterator[pa.RecordBatch]:
        pairs = [(commit_key(), commit_value(offset=43)), (commit_key(), None), (b"\0\x63new", b"?")]
        return iter([record_batch(pairs)]) if ranges else iter(())


def tail_of(positions: dict[int, int], ends: dict[int, Ends]) -> Tail:
    return read_tail(FakeReader(SETTINGS), "__consumer_offsets", positions, ends)


def test_tail_of_the_log_is_read_from_the_position() -> None:
    tail = tail_of({3: 10}, {3: Ends(0, 13, 13)})
    assert tail.commits == {KEY: [Commit(43, 7, ""), None]}
    assert (tail.unread, tail.holes) == ({}, frozenset())
    assert tail_of({3: 13}, {3: Ends(0, 13, 13)}).commits == {}


def test_tail_names_what_it_does_not_know() -> None:
    assert tail_of({3: 9}, {3: Ends(0, 13, 13)}).holes == {3}
    assert tail_of({3: 10}, {3: Ends(0, 13, 14)}).unread == {3: "an open transaction hides records"}
    far = tail_of({3: 0}, {3: Ends(0, 9_000_000, 9_000_000), 4: Ends(5, 5, 5)})
    assert (far.commits, far.unread) == ({}, {3: "9,000,000 offsets behind; collect first"})


def test_cluster_that_does_not_respond_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from kgroups.history.jobs.verify import compare

    def unreachable(session: object) -> str:
        raise ClusterUnreachable("no response")

    monkeypatch.setattr(cluster, "cluster_id", unreachable)
    found = list(compare(IDENTITY, {}, dict, SETTINGS))
    assert [(each.check, each.status, each.note) for each in found] == [
        (name, "unknown", "no response") for name in ("same-cluster", "positions-in-log", "latest-offsets")
    ]
