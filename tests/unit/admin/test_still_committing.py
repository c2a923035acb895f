"""Groups that clients still commit for, found in the records of a fake coordinator and by two samples."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin import still_committing
from kgroups.admin.offsets_topic import recent_commits
from kgroups.admin.routing.backoff import pause
from kgroups.admin.still_committing import Committing
from kgroups.admin.wire import WireClient
from kgroups.model.offsets import Commit
from tests.fakes.asking import ask_again
from tests.fakes.broker import FakeCluster
from tests.fakes.offset_records import commit_key, commit_value, key_bytes, value_bytes
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, marker

LOG = "__consumer_offsets"


class Log:
    """One partition of __consumer_offsets, that grows."""

    def __init__(self) -> None:
        self.cluster = FakeCluster(1, "4.3.1")
        self.cluster.state.topic("t", [0, 0], end=1000)
        self.cluster.state.group("g", 0, commits={("t", 0): 42})
        self.topic = self.cluster.state.topic(LOG, [0], end=0, logs={0: []})
        self.times: dict[int, int] = {}
        self.topic.times = self.times

    def add(
        self, key: bytes, value: bytes | None, ago: float, now: float | None = None, producer: int | None = None
    ) -> None:
        at = int(((now or time.time()) - ago) * 1000)
        made = self._batch(key, value, at) if producer is None else self._in_transaction(key, value, at, producer)
        self.topic.logs[0] = [*self.topic.logs[0], made]
        self.times[self.topic.end] = at
        self.topic.end += 1

    def _batch(self, key: bytes, value: bytes | None, at: int) -> Batch:
        return batch(self.topic.end, [(self.topic.end, at)], key=key, value=value)

    def _in_transaction(self, key: bytes, value: bytes | None, at: int, producer: int) -> Batch:
        end = self.topic.end
        return batch(end, [(end, at)], key=key, value=value, attributes=TRANSACTIONAL, producer=producer)

    def end_transaction(self, producer: int) -> None:
        self.topic.logs[0] = [*self.topic.logs[0], marker(self.topic.end, producer)]
        self.topic.end += 1

    def commit(
        self,
        offset: int,
        ago: float = 0,
        group: str = "g",
        partition: int = 0,
        version: int = 4,
        now: float | None = None,
        producer: int | None = None,
    ) -> None:
        self.add(commit_key(group, "t", partition), commit_value(version, offset=offset), ago, now, producer)

    def commits(self, ages: Iterable[float], group: str = "g") -> None:
        now = time.time()  # of all: their distances do not depend on the machine
        for offset, ago in enumerate(ages):
            self.commit(offset, ago, group, now=now)

    def members_left(self, ago: float = 0) -> None:
        answer = {"protocolType": "consumer", "generation": 2, "protocol": None, "leader": None}
        value = value_bytes(2, 3, {**answer, "currentStateTimestamp": 1000, "members": []})
        self.add(key_bytes(2, "g"), value, ago)


def check(log: Log, *, later: Iterable[tuple[float, int]] = (), window: float = 90, watch: bool = True) -> Committing:
    """``later``: commits that come while the group is watched: after how many seconds, and the offset."""

    async def go_on() -> None:
        for seconds, offset in later:
            await asyncio.sleep(seconds)
            log.commit(offset)
            log.cluster.state.groups["g"].commits["t", 0] = offset

    async def query(admin: WireClient) -> Committing:
        began = asyncio.ensure_future(go_on())
        before = {"g": {("t", 0): Commit(0, 42, 4)}}
        found = await still_committing.still_committing(admin.cluster, before, window=window, watch=watch)
        await began
        return found

    return ask_again(log.cluster, query)


def test_check_waits_for_next_commit_and_names_the_group() -> None:
    log = Log()
    log.commits([0.4, 0.3, 0.2, 0.1])
    found = check(log, later=[(0.2, 9)])
    assert list(found.found) == ["g"] and not found.notices
    assert found.found["g"].startswith(
        "a client that is not a member still commits: the offset of t-0 changed from 3 to 9 within"
    )


def test_concurrent_pauses_extend_the_timeout_once() -> None:
    async def query(admin: WireClient) -> float:
        left = admin.cluster.deadline.remaining()
        began = time.monotonic()
        await asyncio.gather(pause(admin.cluster, 2), pause(admin.cluster, 3))
        return admin.cluster.deadline.remaining() + (time.monotonic() - began) - left

    assert ask_again(Log().cluster, query) == pytest.approx(3, abs=0.001)


def test_same_offset_committed_again_counts() -> None:
    log = Log()
    for ago in (0.3, 0.2, 0.1):
        log.commit(5, ago)
    assert "t-0 was committed again at offset 5 within" in check(log, later=[(0.2, 5)]).found["g"]


def test_stopped_client_and_repeated_resets_are_ignored() -> None:
    log = Log()
    log.commits([0.4, 0.3, 0.2, 0.1])
    assert check(log) == Committing()


@pytest.mark.parametrize("seed", range(40))
def test_offsets_of_open_transactions_are_found_however_old(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Producers send offsets of two groups to transactions, of which some have ended, before and in the window."""
    monkeypatch.setattr(still_committing, "pause", never)
    chance, log = random.Random(seed), Log()
    log.cluster.state.group("other", 0)
    log.commit(1, 9_000, "other")
    running: dict[int, list[tuple[int, str, int]]] = {}
    for _ in range(chance.randint(0, 25)):
        producer, group, partition = chance.randint(1, 4), chance.choice(("g", "other")), chance.randint(0, 1)
        if producer in running and chance.random() < 0.5:
            log.end_transaction(producer)
            del running[producer]
        else:
            running.setdefault(producer, []).append((log.topic.end, group, partition))
            log.commit(7, chance.choice((2_000, 400)), group, partition, producer=producer)
    log.topic.stable = min([each[0][0] for each in running.values()], default=log.topic.end)
    held = sorted({f"t-{partition}" for each in running.values() for _, group, partition in each if group == "g"})
    for watch in (True, False):
        found = check(log, watch=watch)
        assert not (found.perhaps or found.unread or found.notices)
        assert list(found.found) == (["g"] if held else [])
        assert not held or f"an open transaction holds offsets of {', '.join(held)}: " in found.found["g"]


def test_open_transaction_that_began_too_many_records_ago_is_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_commits, "MOST_OF_ALL", 3)
    log = Log()
    log.commits([400] * 5)
    log.topic.stable = 1
    assert "an open transaction began more than 3 records ago" in check(log, watch=False).unread["g"]


async def never(cluster: object, seconds: float) -> None:
    raise AssertionError("waited")


def test_check_without_commit_rhythm_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(still_committing, "pause", never)
    for ages in ((), (0.1,), (300, 299, 298), (80, 75, 70, 65)):
        log = Log()
        log.commits(ages)
        log.commits([3, 2, 1], group="other")
        assert check(log) == Committing()
    log.commit(50, 3)
    log.commit(7, 2)
    assert check(log) == Committing(), "back: a reset and its undo"


def test_commits_of_members_that_left_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pause(cluster: object, seconds: float) -> None:
        raise AssertionError("waited")

    monkeypatch.setattr(still_committing, "pause", pause)
    log = Log()
    log.commits([5, 4, 3, 2, 1])
    log.members_left(0.5)
    assert check(log) == Committing()
    log.commit(99, 0.1)
    assert check(log) == Committing(), "one reset since"


def test_commits_after_members_left_are_found() -> None:
    log = Log()
    log.members_left(1)
    log.commits([0.3, 0.2, 0.1])
    assert list(check(log, later=[(0.1, 8)]).found) == ["g"]


def test_deleted_offsets_do_not_count() -> None:
    log = Log()
    log.commits([0.3, 0.2, 0.1])
    log.add(commit_key("g", "t", 0), None, 0.05)
    assert check(log) == Committing()


def test_dry_run_reports_records_without_waiting() -> None:
    log = Log()
    log.commits([0.3, 0.2, 0.1])
    found = check(log, watch=False)
    assert not found.found and found.perhaps["g"].startswith("3 commits of t-0, at most 0.1 s apart, the last 0.")


@pytest.mark.parametrize("api", ["Metadata", "Fetch"])
def test_unreadable_log_is_replaced_by_two_samples(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    monkeypatch.setattr(still_committing, "SAMPLE", 0.5)
    name = LOG if api == "Metadata" else f"{LOG}-0"
    for later, named in (([(0.1, 43)], ["g"]), ([], [])):
        log = Log()
        log.commits([0.3, 0.2, 0.1])
        log.cluster.state.fail(api, name, ErrorCode.topic_authorization_failed)
        found = check(log, later=later)
        assert list(found.found) == named
        assert all("the offset of t-0 changed from 42 to 43 within" in words for words in found.found.values())
        assert found.notices == (
            f"1 group: committed offsets were only compared twice, 0.5 s apart: reading {LOG} needs the ACL READ on "
            "it; clients that are not members and commit less often, or the same offset again, are not detected",
        )
    log = Log()
    log.cluster.state.fail("Metadata", LOG, ErrorCode.topic_authorization_failed)
    (output,) = check(log, watch=False).notices
    assert output.startswith("1 group: could not check whether clients that are not members still commit")


def test_busy_log_is_read_partly_with_a_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_commits, "MOST_RECORDS", 3)
    monkeypatch.setattr(recent_commits, "LEAST_RECORDS", 3)
    log = Log()
    log.commits([80, 60, 40, 20.2, 10])
    found = check(log, watch=False)
    assert list(found.perhaps) == ["g"]
    (output,) = found.notices
    assert output.startswith(
        "1 group: only the last 40 s of 90 s of commits were read, because the log has too many records; "
    )


def test_missing_offsets_topic_means_no_commits() -> None:
    log = Log()
    del log.cluster.state.topics[LOG]
    assert check(log) == Committing()
