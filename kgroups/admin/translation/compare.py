"""Compare the committed offsets of groups on two clusters, by the records that they would read next."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from kgroups.errors import Reason
from kgroups.model.counts import count
from kgroups.model.offsets import Commit, Isolation, LogOffsets
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.snapshot.snapshot import Snapshot, commits_of
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.translation.parity import NOT_COMMITTED, Compared, Judgment, Verdict, by_count, without_count
from kgroups.model.translation.topics import TopicMap, renamed
from kgroups.net.cluster import Cluster

from ..change.plan.lookups import Committed, committed_by_group
from ..query.first_unread import find_unread
from ..query.group_offsets import fetch_commits
from ..routing.partition_leaders import TopicPartition
from .facts import TOGETHER, log_of
from .find_offset import Finder
from .log_reader import SOURCE, TARGET, Unread, on_side
from .translate import Gathered, Request, Translated, Uncommitted, finder_of, gather, translate_gathered

NO_TRACE = "no committed offset, and no member that shows a topic: there is nothing to compare"
PENDING = Judgment(Verdict.UNKNOWN, note="an open transaction holds a newer offset on B, which counts if it commits")
UNREAD = Judgment(Verdict.UNKNOWN, note="the committed offset on B could not be read")


async def compare(source: Cluster, target: Cluster, request: Request) -> Outcome[Compared]:
    """Return a verdict for each partition with a committed offset on either cluster, sorted.

    :raises UsageError: if both clusters are the same, or two topics have the same copy.
    """
    gathered = await gather(source, target, request)
    finder = finder_of(source, target, request, gathered.facts)
    translations = await translate_gathered(gathered, finder, target.progress)
    turn = asyncio.Semaphore(TOGETHER)

    async def judge(each: Translated) -> Compared:
        async with turn:
            log = log_of(gathered.facts.target_logs, (each.target_topic, each.partition))
            pending = (each.target_topic, each.partition) in gathered.pending_there.get(each.group, ())
            return _compared(each, PENDING if pending else await _judge(finder, each, log))

    compared = [*_only_there(gathered), *map(_uncommitted, gathered.uncommitted())]
    for part in translations.parts():
        compared += await asyncio.gather(*map(judge, part))
    return translations.outcome.with_items(sorted(compared)).with_failures(
        Failure(Scope.GROUP, group, f"{SOURCE}: {NO_TRACE}", reason=Reason.NOT_APPLICABLE)
        for group in gathered.untraced()
    )


async def _judge(finder: Finder, each: Translated, log: LogOffsets) -> Judgment:
    translation, commit = each.translation, each.old
    if not each.known_there:
        return UNREAD
    if found := without_count(translation, commit, log):
        return found
    assert commit is not None and translation.offset is not None
    low, high = sorted((commit.offset, translation.offset))
    try:
        between = await finder.count((each.target_topic, each.partition), low, high)
    except Unread as error:
        return Judgment(Verdict.UNKNOWN, note=str(error))
    return by_count(translation, commit, between)


def _compared(each: Translated, found: Judgment) -> Compared:
    return Compared(
        *(each.group, each.topic, each.partition, each.commit.offset, each.target_topic),
        each.old.offset if each.old else None,
        each.translation.offset,
        *found,
    )


def _only_there(gathered: Gathered) -> Iterator[Compared]:
    for group, topic, (copy, partition), commit in gathered.only_there():
        yield Compared(
            *(group, topic, partition, None, copy, commit.offset, None, Verdict.UNKNOWN, None),
            "no committed offset on A: auto.offset.reset decides",
        )


def _uncommitted(each: Uncommitted) -> Compared:
    of = f"of {_size(each.log)} on A, and of {_size(each.copy)} on B"
    note = f"no committed offset on A and B: auto.offset.reset decides which records are read, {of}"
    unknown = None, each.target_topic, None, None, Verdict.UNKNOWN, None
    return Compared(each.group, each.topic, each.partition, *unknown, note)


def _size(log: LogOffsets) -> str:
    return "an unknown log" if log.start is None or log.end is None else count(log.end - log.start, "offset")


async def compare_with_snapshot(snapshot: Snapshot, target: Cluster, rules: TopicMap) -> Outcome[Compared]:
    """Return a verdict for each committed offset of a snapshot, by the records that were saved with it."""
    names = [each.group.group for each in snapshot.groups]
    commits = await fetch_commits(target, dict.fromkeys(names))
    there = committed_by_group(commits)
    unread = [on_side(TARGET, failure) for name, failure in commits.failed.items() if name not in there]
    saved = [
        (each.group.group, topic, partition, commit)
        for each in snapshot.groups
        for (topic, partition), commit in sorted(commits_of(each).items())
    ]
    positions = {
        Position(copy, partition, now.offset)
        for group, topic, partition, _ in saved
        if (now := _now(there, group, (copy := renamed(topic, rules) or topic, partition)))
    }
    records, failures = await find_unread(target, positions, isolation=Isolation.READ_UNCOMMITTED, checksums=True)
    items = []
    for group, topic, partition, commit in saved:
        copy = renamed(topic, rules) or topic
        now = _now(there, group, (copy, partition))
        then = snapshot.records.get(Position(topic, partition, commit.offset))
        found = _as_saved(commit, now, then, _record(records, copy, partition, now)) if group in there else UNREAD
        expected = commit.offset if found.verdict is Verdict.SAME else None
        offset = now.offset if now else None
        items.append(Compared(group, topic, partition, commit.offset, copy, offset, expected, *found))
    return Outcome(tuple(sorted(items)), (*snapshot.partial, *unread, *failures))


def _now(there: Committed, group: str, pair: TopicPartition) -> Commit | None:
    return there.get(group, {}).get(pair)


def _record(
    records: Mapping[Position, FirstUnread], topic: str, partition: int, commit: Commit | None
) -> FirstUnread | None:
    return records.get(Position(topic, partition, commit.offset)) if commit else None


def _as_saved(commit: Commit, now: Commit | None, then: FirstUnread | None, unread: FirstUnread | None) -> Judgment:
    if now is None:
        return NOT_COMMITTED
    if then is None or then.failed or unread is None or unread.failed:
        why = (
            (then and then.failed)
            or (unread and unread.failed)
            or "the snapshot has no record at this offset: none was unread, or it was saved without --with-records"
        )
        return Judgment(Verdict.UNKNOWN, note=why)
    if now.offset != commit.offset:
        return Judgment(Verdict.UNKNOWN, note="other offsets than in the snapshot: compare with its cluster instead")
    if then.offset is None or unread.offset is None:
        return Judgment(Verdict.UNKNOWN, note="the group had read everything: no record was saved")
    if (then.offset, then.timestamp, then.crc) == (unread.offset, unread.timestamp, unread.crc):
        return Judgment(Verdict.SAME, 0, f"the record at {unread.offset:,} has the same time and checksum")
    if (then.offset, then.timestamp) == (unread.offset, unread.timestamp):
        text = f"the record at {unread.offset:,} has the same time, and its batch another checksum"
        note = f"{text}: it is another record, or in another batch, and the snapshot has only the checksum of the batch"
        return Judgment(Verdict.UNKNOWN, note=note)
    return Judgment(Verdict.UNKNOWN, note=f"the record at {unread.offset:,} has another time than the saved one")
