"""Take a snapshot of groups with all data that rules about their health need."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Collection, Iterable, Mapping
from contextlib import aclosing
from typing import NamedTuple

from kgroups.model.explain.facts import GroupFacts, LagFacts
from kgroups.model.group_log import CommitTimes, GroupLogs, LogQuery, ReadBudget, commit_keys, expires_at, keys_of
from kgroups.model.groups import Group, GroupId, GroupState, GroupType
from kgroups.model.health.findings import Proof, Sample, Seen, proof_of
from kgroups.model.health.sampling import Answers, Sampling
from kgroups.model.migration import BrokerFacts
from kgroups.model.offsets import Isolation, LogProblem
from kgroups.model.operations.commit_history import History
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.stays import Instances
from kgroups.model.subscriptions import unsubscribed_topics
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.verdicts.facts import PartitionFacts
from kgroups.model.views.lag_summary import NO_AGES, Ages, By, Share, shares
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster

from .client import Client, WireOnly, wire_of
from .group_clients import gather_facts, instances_of
from .query.count_unread import count_unread
from .query.leader_epochs import with_epoch_ends
from .query.log_offsets import problem_of
from .query.migration import migration_facts
from .query.retention import fetch_retention
from .query.select_groups import Selection
from .records import UNREAD_LOG, commit_history, find_unread, read_group_logs, share_facts
from .still_committing import Committed, still_committing
from .verdicts.gather import partition_facts


def bounds_of(commits: int) -> ReadBudget:
    """Return the read budget, per partition of the offsets topic, for the times of this number of commits.

    Slow machines take half a millisecond to read and decode a commit.
    """
    return ReadBudget(32 << 20, 5 + commits // 2_000)


async def observe(admin: Client, selection: Selection, sample: Sample, *, isolation: Isolation) -> Outcome[Seen]:
    """Return a snapshot of the selected groups, sorted by name.

    For the times of commits, the offsets topic is read backwards, as far as :func:`bounds_of` allows. If that is not
    possible, the times are unknown, with a reason, and nothing fails.

    :param sample: what to include.
    """
    outcome = await admin.describe_offsets(selection, isolation=isolation, whole_topics=True)
    if sample.with_epoch_ends and admin.cluster is not None:
        outcome = await with_epoch_ends(admin.cluster, outcome)
    now = int(time.time() * 1000)
    ages = NO_AGES
    failures: tuple[Failure, ...] = ()
    if sample.with_ages or sample.with_headroom or sample.with_counts:
        every = [share for item in outcome.items for share in shares(item, By.GROUP)]
        ages, failures = await read_ages(
            admin, every, now, isolation=isolation, headroom=sample.with_headroom, exact=sample.with_counts
        )
    seen = [Seen(item, now, ages) for item in outcome.items]
    if sample.with_commit_times:
        seen = await _with_commit_times(admin, seen)
    if sample.with_expiry:
        seen = await _with_expiry(admin, seen)
    if sample.with_outsiders:
        seen = await _with_outsiders(admin, seen)
    if sample.with_migration:
        seen = await _with_migration(admin, seen, {})
    if sample.with_share_states:
        shared = await share_facts(admin, outcome.items, bounds_of(0))
        seen = [each._replace(share=shared.facts.get(each.offsets.group.group)) for each in seen]
    return outcome.with_items(seen).with_failures(failures)


async def read_ages(
    admin: Client,
    every: Iterable[Share],
    now: int,
    *,
    isolation: Isolation,
    headroom: bool = False,
    exact: bool = False,
) -> tuple[Ages, tuple[Failure, ...]]:
    """Return the first unread records of these shares, read now (milliseconds since 1970), and the failures.

    :param headroom: whether to fetch the retention of their logs as well.
    :param exact: whether to count the unread records as well.
    """
    every = list(every)
    positions = {position for share in every for position in share.positions()}
    wanted, retention, counts = set(positions), None, None
    failures: list[Failure] = []
    if headroom:
        retention, unknown = await fetch_retention(
            wire_of(admin, WireOnly.HEADROOM), {(at.topic, at.partition) for at in positions}
        )
        wanted.update(start for share in every for start in share.starts(retention))
        failures += unknown
    unread, unreadable = await find_unread(admin, wanted, isolation=isolation)
    failures += unreadable
    if exact:
        ends = {pair: end for share in every for pair, end in share.ends()}
        counts, uncounted = await count_unread(
            wire_of(admin, WireOnly.RECORD_COUNTS), positions, ends, isolation=isolation
        )
        failures += uncounted
    return Ages(unread, now, retention, counts), tuple(dict.fromkeys(failures))


async def observe_in_batches(
    admin: Client, selection: Selection, sample: Sample, *, isolation: Isolation
) -> AsyncGenerator[Outcome[Seen]]:
    """Yield snapshots of the selected groups in batches, without ages and commit times.

    :param sample: only ``with_epoch_ends`` and ``with_migration`` count.
    """
    brokers: dict[int, BrokerFacts] = {}
    async with aclosing(admin.stream_offsets(selection, isolation=isolation, whole_topics=True)) as batches:
        async for batch in batches:
            now = int(time.time() * 1000)
            if sample.with_epoch_ends and admin.cluster is not None:
                batch = await with_epoch_ends(admin.cluster, batch)
            seen = [Seen(item, now, NO_AGES) for item in batch.items]
            if sample.with_migration:
                seen = await _with_migration(admin, seen, brokers)
            yield batch.with_items(seen)


async def _with_migration(admin: Client, seen: list[Seen], brokers: dict[int, BrokerFacts]) -> list[Seen]:
    """Add what decides about a migration. That it could not be read is a finding of the rule, and no failure.

    :param brokers: as in :func:`migration_facts`.
    """
    cluster = wire_of(admin, WireOnly.MIGRATION)
    found = await migration_facts(cluster, Outcome(tuple(each.offsets.group for each in seen)), brokers)
    facts = {each.group.group: each for each in found.items}
    return [each._replace(migration=facts.get(each.offsets.group.group)) for each in seen]


async def observe_partitions(
    admin: Client, selection: Selection, wanted: Mapping[str, frozenset[int] | None] | None
) -> Outcome[PartitionFacts]:
    """Return the facts about partitions, topic -> numbers, or ``None`` for all; or about those that lag.

    :raises UsageError: over librdkafka.
    """
    cluster = wire_of(admin, WireOnly.EXPLAIN)
    isolation = Isolation.READ_UNCOMMITTED
    described = await admin.describe_offsets(selection, isolation=isolation, whole_topics=wanted is None)
    described = await with_epoch_ends(cluster, described)
    return await partition_facts(cluster, described, wanted)


async def group_facts(
    admin: Client, selection: Selection, *, with_pace: bool = False
) -> tuple[Outcome[GroupFacts], Outcome[PartitionFacts]]:
    """Return all facts about groups that ``explain`` needs, and those about their partitions that lag.

    :param with_pace: whether to observe for some seconds whether a lag grows.
    :raises UsageError: over librdkafka.
    """
    cluster = wire_of(admin, WireOnly.EXPLAIN)

    async def describe() -> Outcome[GroupOffsets]:
        found = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED, whole_topics=True)
        return await with_epoch_ends(cluster, found)

    described = asyncio.ensure_future(describe())
    outcome, (lags, failures, partitions) = await asyncio.gather(
        gather_facts(cluster, selection, described), _lag_facts(cluster, described, with_pace=with_pace)
    )
    outcome = outcome.with_items(each._replace(lag=lags.get(each.group.group)) for each in outcome.items)
    return outcome.with_failures(each for each in failures if each not in outcome.failures), partitions


async def _lag_facts(
    cluster: Cluster, offsets: Awaitable[Outcome[GroupOffsets]], *, with_pace: bool
) -> tuple[Mapping[GroupId, LagFacts], tuple[Failure, ...], Outcome[PartitionFacts]]:
    """Return the lag of groups with the facts about their partitions that lag, failures, and all of these facts.

    What is missing in the lag is unknown, with a reason: records that cannot be read, and logs that do not exist, are
    failures only of the partitions.
    """
    described = await offsets
    partitions = await partition_facts(cluster, described, None, with_pace=with_pace)
    by_group: dict[GroupId, list[PartitionFacts]] = {}
    for each in partitions.items:
        by_group.setdefault(each.group, []).append(each)
    every = [share for item in described.items for share in shares(item, By.GROUP)]
    facts = {
        share.group.group: LagFacts(share.known(share.tally()), tuple(by_group.get(share.group.group, ())))
        for share in every
    }
    failures = tuple(each for each in described.failures if problem_of(each) is not LogProblem.MISSING)
    return facts, failures, partitions


class Questions(NamedTuple):
    """What :func:`answer` finds out after the last sample.

    ``unproven``: the partitions of each group whose trend requires proof of an unread record, and where to search.
    ``static``: groups with static members.
    """

    unproven: Mapping[GroupId, Mapping[tuple[str, int], Position]] = {}
    static: Collection[GroupId] = ()

    def unanswered(self, reason: object) -> Answers:
        """Return that everything is unknown."""
        proof = Proof(None, f"unread records are unknown: {reason}")
        return Answers(
            {group: dict.fromkeys(places, proof) for group, places in self.unproven.items()},
            instances={group: Instances((), str(reason)) for group in self.static},
        )


def questions_of(sampling: Sampling) -> Questions:
    return Questions(sampling.unproven(), sampling.static())


async def answer(admin: Client, questions: Questions, *, isolation: Isolation) -> Answers:
    """Return what is unread, when it was committed, and who shares an instance ID. Errors are in the answers."""
    instances = await instances_of(admin.cluster, sorted(questions.static))
    if not questions.unproven:
        return Answers(instances=instances)
    wanted = {at for places in questions.unproven.values() for at in places.values()}
    found, recent = await asyncio.gather(
        _find_proofs(admin, wanted, isolation=isolation), commit_history(admin, sorted(questions.unproven))
    )
    histories = {
        group: {
            place: History(
                recent.made.get(group, {}).get(place, ()), recent.changed.get(group, ()), recent.since.get(group)
            )
            for place in places
        }
        for group, places in questions.unproven.items()
    }
    proofs = {group: {place: found[at] for place, at in places.items()} for group, places in questions.unproven.items()}
    return Answers(proofs, histories, recent.unread, instances)


async def _find_proofs(
    admin: Client, wanted: Collection[Position], *, isolation: Isolation
) -> Mapping[Position, Proof]:
    """Return for each position whether a record is unread there, or only transaction markers and aborted records."""
    readable, _ = await find_unread(admin, wanted, isolation=Isolation.READ_COMMITTED)
    unread: Mapping[Position, FirstUnread] = {}
    if isolation is Isolation.READ_UNCOMMITTED:
        passed = {place for place in wanted if (found := readable.get(place)) and found == FirstUnread()}
        unread, _ = await find_unread(admin, passed, isolation=isolation) if passed else ({}, ())
    return {place: proof_of(readable.get(place), unread.get(place)) for place in wanted}


async def _with_outsiders(admin: Client, seen: list[Seen]) -> list[Seen]:
    """Add what is known about clients that commit for groups without members. May wait for their next commit."""
    idle: Committed = {
        each.offsets.group.group: {}
        for each in seen
        if each.offsets.group.state == GroupState.EMPTY and each.offsets.group.type != GroupType.SHARE
    }
    if admin.cluster is None:
        return [
            each._replace(outsiders_unread=UNREAD_LOG if each.offsets.group.group in idle else None) for each in seen
        ]
    committing = await still_committing(admin.cluster, idle, sample=False)
    return [
        each._replace(
            outsiders=committing.found.get(each.offsets.group.group),
            outsiders_unread=committing.unread.get(each.offsets.group.group),
        )
        for each in seen
    ]


async def _with_commit_times(admin: Client, seen: list[Seen]) -> list[Seen]:
    committed = {each.offsets.group.group: _committed(each.offsets) for each in seen}
    wanted = {name: commit_keys(name, places) for name, places in committed.items() if places}
    if not wanted:
        return seen
    found = await read_group_logs(admin, wanted, bounds_of(sum(map(len, wanted.values()))))
    return [
        each._replace(
            committed_at={place: times.committed for place, times in found.of(name).commits.items()},
            commits_unread=found.unread.get(name),
            commits_before=found.before.get(name),
        )
        for each, name in zip(seen, committed, strict=True)
    ]


async def _with_expiry(admin: Client, seen: list[Seen]) -> list[Seen]:
    expiring = {
        each.offsets.group.group: keys_of(each.offsets.group, LogQuery.OFFSETS, places)
        for each in seen
        if (places := _expiring(each.offsets))
    }
    if not expiring:
        return seen
    logs = await read_group_logs(admin, expiring, bounds_of(sum(map(len, expiring.values()))), retention=True)
    no_retention = None if logs.retention is not None else logs.notices[-1].removeprefix("--deep: ")
    return [
        each._replace(
            expires_at={
                place: at
                for place, commit in logs.of(name).commits.items()
                if (at := _expires_at(each.offsets.group, place[0], commit, logs, name)) is not None
            },
            expiry_unread=logs.unread.get(name, no_retention),
        )
        if (name := each.offsets.group.group) in expiring
        else each
        for each in seen
    ]


def _expires_at(group: Group, topic: str, commit: CommitTimes, logs: GroupLogs, name: GroupId) -> int | None:
    left = bool(unsubscribed_topics(group, (topic,)))
    return expires_at(group, commit, logs.of(name), logs.retention, left=left)


def _expiring(offsets: GroupOffsets) -> list[tuple[str, int]]:
    """Return the committed partitions whose offsets expire: all without members, otherwise those of left topics."""
    committed = _committed(offsets)
    if offsets.group.state in GroupState.WITHOUT_MEMBERS:
        return committed
    left = unsubscribed_topics(offsets.group, offsets.commits.topics)
    return [place for place in committed if place[0] in left]


def _committed(offsets: GroupOffsets) -> list[tuple[str, int]]:
    if offsets.group.type in (GroupType.SHARE, GroupType.SPARK):
        return []  # nothing of them is in the offsets topic
    return [(topic, commit.partition) for topic, commits in offsets.commits.topics.items() for commit in commits]
