"""Gather the facts about partitions of groups: a few requests at once, however many partitions there are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgroups.errors import KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.counts import count
from kgroups.model.groups import GroupType
from kgroups.model.lag import is_epoch_ahead
from kgroups.model.offsets import Isolation, LogOffsets, LogProblem, Logs, place_name
from kgroups.model.operations.commit_history import History
from kgroups.model.operations.committing import RecentCommits
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.rates import Pace, Reading, pace_of, reading_of, unbroken
from kgroups.model.record import RecordDetails
from kgroups.model.subscriptions import left_topics
from kgroups.model.time_lag import FirstUnread, Position, position
from kgroups.model.verdicts.facts import OpenTransaction, Owner, Part, PartitionFacts, Unavailable
from kgroups.model.verdicts.judge import needs_pace
from kgroups.model.views.lag_summary import By, lag_is_unknown, left_of, left_remark, shares
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.record_details import read_details

from ..offsets_topic.recent_commits import READ_COMMITS, SHARE_OF_TIME_LEFT, commit_history
from ..query.describe import describe_offsets
from ..query.first_unread import find_unread
from ..query.log_offsets import fetch_logs, problem_of
from ..query.select_groups import Selection
from ..routing.partition_leaders import TopicPartition, by_topic, find_leaders, partition_name, read_topics
from .limits import fetch_limits
from .transactions import open_transactions

OBSERVED = 11.0
"""Maximum seconds to observe lags whose direction matters; consumers commit every 5 s by default."""
SPAN = 4_000
"""Milliseconds between two commits that suffice."""
PAUSE = 0.5
FETCH_BYTES = 16 * 1024

Wanted = Mapping[str, frozenset[int] | None]
"""Topic -> partitions; ``None``: all."""

NOT_SHARED = "share groups have no committed offsets, and no verdicts about partitions"


class _Gathered:
    """The answers of the cluster about all partitions of interest."""

    def __init__(self, bootstrap: str = "") -> None:
        self.bootstrap = bootstrap
        self.now = time.time_ns() // 1_000_000
        self.leaders: dict[TopicPartition, Node] = {}
        self.stable: dict[TopicPartition, int] = {}
        self.unread: Mapping[Position, FirstUnread] = {}
        self.aborted: Mapping[Position, FirstUnread] = {}
        self.denied: dict[TopicPartition, str] = {}
        self.records: dict[Position, RecordDetails] = {}
        self.transactions: Mapping[TopicPartition, tuple[OpenTransaction, ...]] = {}
        self.commits = RecentCommits({})
        self.lacking: dict[TopicPartition, list[Unavailable]] = {}

    def lacks(self, pair: TopicPartition, part: Part, reason: str) -> None:
        self.lacking.setdefault(pair, []).append(Unavailable(part, reason))


async def partition_facts(
    cluster: Cluster, described: Outcome[GroupOffsets], wanted: Wanted | None, *, with_pace: bool = True
) -> Outcome[PartitionFacts]:
    """Return the facts about partitions of described groups, sorted.

    :param wanted: the partitions; ``None``: those that lag, and those whose lag is unknown.
    :param with_pace: whether to observe for some seconds whether a lag grows.
    """
    numbers, failures = await _numbers(cluster, wanted)
    shared = [each for each in described.items if each.group.type == GroupType.SHARE]
    notices = described.notices
    if wanted is None and shared:
        notices = (*notices, f"{count(len(shared), 'share group')} not examined: {NOT_SHARED}")
    else:
        failures += [
            Failure(Scope.GROUP, each.group.group, NOT_SHARED, reason=Reason.NOT_APPLICABLE) for each in shared
        ]
    groups = [each for each in described.items if each.group.type != GroupType.SHARE]
    rows = {each.group.group: _rows(each, numbers) for each in groups}
    if wanted is None:
        notices = (*notices, *_leave_out(groups, rows))
    failures += await _add_logs(cluster, rows, groups)
    pairs = {_pair(row) for some in rows.values() for row in some}
    failures += [each for each in described.failures if _concerns(each, pairs)]
    gathered = _Gathered(cluster.settings.bootstrap_servers)
    failures += await _ask(cluster, rows, gathered)
    problems = _problems(failures)
    facts = [_facts(each, row, gathered, problems) for each in groups for row in rows[each.group.group]]
    if with_pace:
        facts = await _with_limits(cluster, await _with_pace(cluster, facts), gathered)
    hidden_by = (*described.hidden_by, *(part.acl for each in facts for part in each.unavailable if part.acl))
    return Outcome(tuple(facts), tuple(dict.fromkeys(failures)), notices, tuple(dict.fromkeys(hidden_by)))


async def _numbers(
    cluster: Cluster, wanted: Wanted | None
) -> tuple[Mapping[str, frozenset[int]] | None, list[Failure]]:
    """Return the partitions of topics, also of those that are wanted as a whole."""
    if wanted is None:
        return None, []
    whole = [topic for topic, numbers in wanted.items() if numbers is None]
    entries, failed = await read_topics(cluster, whole) if whole else ({}, {})
    failures = [Failure.of(error, Scope.TOPIC, topic, api="Metadata") for topic, error in failed.items()]
    failures += [each.error.failure(Scope.TOPIC, each.topic, api="Metadata") for each in entries.values() if each.error]
    existing = {topic: frozenset(entry.leaders) for topic, entry in entries.items()}
    return {topic: existing.get(topic, frozenset()) if n is None else n for topic, n in wanted.items()}, failures


def _rows(offsets: GroupOffsets, numbers: Mapping[str, frozenset[int]] | None) -> list[OffsetRow]:
    """Return one row for each partition of interest; a partition that the group does not use has an empty one."""
    found: dict[TopicPartition, OffsetRow] = {}
    for share in shares(offsets, By.PARTITION):
        for row in share.rows:
            found.setdefault(_pair(row), row)
    if numbers is None:
        return [row for row in found.values() if row.lag or row.diverged_at is not None or lag_is_unknown(row)]
    name = offsets.group.group
    return [
        found.get((topic, number), OffsetRow(name, topic, number))
        for topic in sorted(numbers)
        for number in sorted(numbers[topic])
    ]


def _leave_out(groups: Iterable[GroupOffsets], rows: dict[str, list[OffsetRow]]) -> Iterator[str]:
    """Drop the partitions of topics that no member subscribes to; yield a notice for each group that has some."""
    for each in groups:
        name = each.group.group
        if left := left_topics(each.group, each.commits.topics):
            every, rows[name] = rows[name], [row for row in rows[name] if row.topic not in left]
            if len(every) > len(rows[name]):
                yield f"group {name!r}: {left_remark(every, left, left_of(every, left, each.logs))}"


def _pair(row: OffsetRow) -> TopicPartition:
    """Return the partition of a row of interest, which has one."""
    return row.topic or "", row.partition or 0


async def _add_logs(
    cluster: Cluster, rows: dict[str, list[OffsetRow]], groups: Sequence[GroupOffsets]
) -> tuple[Failure, ...]:
    """Add the log offsets of partitions that a group does not use, but that are wanted; return the failures."""
    known = {(topic, n): log for each in groups for topic, logs in each.logs.offsets.items() for n, log in logs.items()}
    holes = {pair for each in groups for pair in each.logs.holes}
    new = {_pair(row) for some in rows.values() for row in some} - known.keys() - holes
    failures: tuple[Failure, ...] = ()
    if new:
        logs, failures = await fetch_logs(cluster, by_topic(sorted(new)))
        known |= {(topic, n): log for topic, some in logs.offsets.items() for n, log in some.items()}
    for name, some in rows.items():
        rows[name] = [
            row._replace(log_start_offset=log.start, log_end_offset=log.end)
            if row.log_end_offset is None and (log := known.get(_pair(row)))
            else row
            for row in some
        ]
    return failures


def _concerns(failure: Failure, pairs: Iterable[TopicPartition]) -> bool:
    """Return whether a failure is about one of these partitions, or about more than a topic."""
    return failure.scope not in (Scope.TOPIC, Scope.PARTITION) or bool(_named(failure, pairs))


def _problems(failures: Iterable[Failure]) -> dict[str, LogProblem]:
    """Return the name of a partition or topic -> why no consumer can read it."""
    return {failure.name: found for failure in failures if (found := problem_of(failure))}


def _position(row: OffsetRow) -> Position | None:
    log = LogOffsets(row.log_start_offset, row.log_end_offset)
    return position(*_pair(row), row.current_offset, log)


async def _ask(cluster: Cluster, rows: Mapping[str, Sequence[OffsetRow]], gathered: _Gathered) -> list[Failure]:
    """Fill in the answers; return the failures."""
    every = [row for some in rows.values() for row in some]
    pairs = sorted({_pair(row) for row in every if row.log_end_offset is not None})
    partitions = by_topic(pairs)
    positions = {found for row in every if (found := _position(row))}
    leaders, (stable, unread, aborted, unread_failures), commits = await asyncio.gather(
        find_leaders(cluster, pairs),
        _stable_records(cluster, partitions, positions),
        commit_history(cluster, tuple(name for name, some in rows.items() if some)),
    )
    gathered.leaders = {pair: node for node, some in leaders.leaders.items() for pair in some}
    gathered.unread, gathered.aborted, gathered.commits = unread, aborted, commits
    ends = {_pair(row): row.log_end_offset or 0 for row in every}
    for topic, logs in stable.offsets.items():
        gathered.stable.update(((topic, number), log.end) for number, log in logs.items() if log.end is not None)
    _note_missing(gathered, stable.holes, unread_failures, pairs)
    blocked: dict[Node, list[TopicPartition]] = {}
    for pair in pairs:
        if gathered.stable.get(pair, ends[pair]) < ends[pair] and pair in gathered.leaders:
            blocked.setdefault(gathered.leaders[pair], []).append(pair)
    await asyncio.gather(_read_records(cluster, gathered), _read_transactions(cluster, blocked, gathered))
    return list(unread_failures)


async def _stable_records(
    cluster: Cluster, partitions: Mapping[str, tuple[int, ...]], positions: Iterable[Position]
) -> tuple[Logs, Mapping[Position, FirstUnread], Mapping[Position, FirstUnread], tuple[Failure, ...]]:
    """Return the last stable offsets, the first unread records before them, and the aborted ones where none is.

    Nothing is read at or after the last stable offset: a leader waits there until records arrive.
    """
    stable, _ = await fetch_logs(cluster, partitions, isolation=Isolation.READ_COMMITTED)
    unread: dict[Position, FirstUnread] = {}
    below = []
    for at in positions:
        end = stable.offsets.get(at.topic, {}).get(at.partition, LogOffsets()).end
        if end is not None and at.offset >= end:
            unread[at] = FirstUnread()
        else:
            below.append(at)
    found, failures = await find_unread(cluster, below, isolation=Isolation.READ_COMMITTED)
    passed = [at for at in below if found.get(at) == FirstUnread()]
    aborted, _ = await find_unread(cluster, passed, isolation=Isolation.READ_UNCOMMITTED)
    return stable, {**unread, **found}, aborted, failures


def _note_missing(
    gathered: _Gathered,
    holes: Mapping[TopicPartition, str],
    unread_failures: Iterable[Failure],
    pairs: Sequence[TopicPartition],
) -> None:
    """Note what could not be requested: last stable offsets, and records."""
    for pair, reason in holes.items():
        gathered.lacks(pair, Part.LAST_STABLE, reason)
    for at, found in gathered.unread.items():
        if failed := found.failed or gathered.aborted.get(at, found).failed:
            gathered.lacks(at[:2], Part.RECORD, failed)
    for failure in unread_failures:
        if failure.acl:
            gathered.denied.update(dict.fromkeys(_named(failure, pairs), str(failure.acl)))


def _named(failure: Failure, pairs: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Return the partitions that a failure of a partition or of a topic is about."""
    return [pair for pair in pairs if failure.name in (pair[0], partition_name(pair))]


async def _read_transactions(
    cluster: Cluster, blocked: Mapping[Node, Sequence[TopicPartition]], gathered: _Gathered
) -> None:
    if blocked:
        gathered.transactions, missing = await open_transactions(cluster, blocked)
        for pair, some in missing.items():
            gathered.lacking.setdefault(pair, []).extend(some)


async def _read_records(cluster: Cluster, gathered: _Gathered) -> None:
    """Read each first unread record."""
    jobs = [
        (
            at,
            cluster.call(
                gathered.leaders[at[:2]],
                Fetch({at.topic: {at.partition: found.offset}}, FETCH_BYTES, Isolation.READ_COMMITTED),
            ),
        )
        for at, found in gathered.unread.items()
        if found.offset is not None and at[:2] in gathered.leaders
    ]
    for at, response in await fan_out(jobs):
        pair = at[:2]
        fetched = response if isinstance(response, KgroupsError) else response.get(pair)
        offset = gathered.unread[at].offset or 0
        try:
            if not isinstance(fetched, Fetched):
                raise _unread_error(fetched)
            records, _ = read_details(fetched.records, offset, fetched.aborted)
            gathered.records[at] = records[0]
        except (KgroupsError, IndexError) as error:
            gathered.lacks(pair, Part.RECORD, str(error) if isinstance(error, KgroupsError) else "the record is gone")


async def _with_pace(cluster: Cluster, facts: Sequence[PartitionFacts]) -> list[PartitionFacts]:
    """Observe the lags whose direction matters, until there are two commits of each; nothing is requested if none is.

    The times of records do not show when they were written, because producers set them.
    """
    readings: dict[tuple[str, TopicPartition], list[Reading]] = {
        (each.group, (each.topic, each.partition)): [] for each in facts if needs_pace(each)
    }
    selection = Selection(tuple(sorted({group for group, _ in readings})))
    until = time.monotonic() + min(OBSERVED, cluster.deadline.remaining() * SHARE_OF_TIME_LEFT)
    paces: dict[tuple[str, TopicPartition], Pace | None] = {}
    why = ""
    while readings and time.monotonic() < until:
        described = await describe_offsets(cluster, selection)
        at = time.monotonic_ns() // 1_000_000
        why = described.failures[0].message if described.failures else ""
        groups = {each.group.group: each for each in described.items}
        for key, some in readings.items():
            group, pair = key
            if group in groups and (reading := reading_of(at, *groups[group][:3], pair)):
                some.append(reading)
                paces[key] = pace_of(unbroken(some))
            elif group in groups:
                some.clear()  # without a commit in between, it begins again
        if all((pace := paces.get(key)) and pace.until - pace.since >= SPAN for key in readings):
            break
        await asyncio.sleep(PAUSE)
    found = []
    for each in facts:
        key = each.group, (each.topic, each.partition)
        lacking = (Unavailable(Part.PACE, why),) if key in readings and key not in paces and why else ()
        found.append(each._replace(pace=paces.get(key), unavailable=(*each.unavailable, *lacking)))
    return found


async def _with_limits(cluster: Cluster, facts: Sequence[PartitionFacts], gathered: _Gathered) -> list[PartitionFacts]:
    """Add the quotas of members that are slower than the producers; nothing is requested if none is."""
    clients = [_slow_client(each) for each in facts]
    wanted = {client for client in clients if client is not None}
    if not wanted:
        return list(facts)
    limits, missing = await fetch_limits(cluster, next(iter(gathered.leaders.values())), wanted)
    lacking = (missing,) if missing else ()
    return [
        each if client is None else each._replace(limit=limits.get(client), unavailable=(*each.unavailable, *lacking))
        for each, client in zip(facts, clients, strict=True)
    ]


def _slow_client(facts: PartitionFacts) -> str | None:
    """Return the client ID of a member that reads, but slower than producers write; ``None`` if it does not.

    A quota delays a consumer and never stops it.
    """
    pace = facts.pace
    behind = pace is not None and pace.falls_behind and pace.consumed > 0
    return facts.owner.client_id if facts.owner and behind else None


def _unread_error(fetched: KafkaError | KgroupsError | None) -> KgroupsError:
    if isinstance(fetched, KgroupsError):
        return fetched
    return KgroupsError(fetched.message if fetched else "missing in the leader's response")


def _has_other_topic_id(offsets: GroupOffsets, row: OffsetRow, gathered: _Gathered) -> bool:
    """Return whether the last commit, which is in effect, names another topic than the one that has its name now."""
    group, pair = offsets.group.group, _pair(row)
    current, named = offsets.logs.topic_ids.get(pair[0]), gathered.commits.topic_ids.get(group, {}).get(pair)
    if not current or not named or current == named:
        return False
    return gathered.commits.made[group][pair][-1][1] == row.current_offset


def _other_commit(offsets: GroupOffsets, row: OffsetRow, gathered: _Gathered) -> int | None:
    """Return when another partition of the member of this one was last committed."""
    made = gathered.commits.made.get(offsets.group.group, {})
    others = (
        (entry.topic, at)
        for member in offsets.group.members or ()
        if member.member_id == row.consumer_id
        for entry in member.assignment.topics
        for at in entry.partitions
    )
    return max((made[pair][-1][0] for pair in others if pair != _pair(row) and made.get(pair)), default=None)


def _facts(
    offsets: GroupOffsets, row: OffsetRow, gathered: _Gathered, problems: Mapping[str, LogProblem]
) -> PartitionFacts:
    group = offsets.group
    pair = topic, partition = _pair(row)
    at = _position(row)
    unread = gathered.unread.get(at) if at else None
    aborted = gathered.aborted.get(at) if at else None
    end, stable = row.log_end_offset, gathered.stable.get(pair)
    lacking = list(gathered.lacking.get(pair, ()))
    reason = gathered.commits.unread.get(group.group)
    history = None
    if reason is None:
        made = gathered.commits.made.get(group.group, {}).get(pair, ())
        changes = gathered.commits.changed.get(group.group, ())
        stays = gathered.commits.stays.get(group.group, ())
        history = History(made, changes, gathered.commits.since.get(group.group), stays)
    else:
        lacking.append(Unavailable(Part.COMMITS, reason, READ_COMMITS if gathered.commits.denied else None))
    problem = problems.get(place_name(*pair)) or problems.get(topic) or offsets.logs.problems.get(pair)
    if end is None and problem is None:
        lacking.append(Unavailable(Part.LOG, row.note or "no response"))
    leader = gathered.leaders.get(pair)
    owner = None
    if row.consumer_id is not None:
        owner = Owner(row.consumer_id, row.client_id or "", row.host or "")
    return PartitionFacts(
        group=group.group,
        topic=topic,
        partition=partition,
        now=gathered.now,
        state=group.state,
        members=None if group.members is None else len(group.members),
        committed=row.current_offset,
        start=row.log_start_offset,
        end=end,
        last_stable=None if stable is None or end is None else min(stable, end),
        leader=leader.id if leader else None,
        log_problem=problem if end is None else None,
        recreated=_has_other_topic_id(offsets, row, gathered),
        epoch_ahead=is_epoch_ahead(row.leader_epoch, offsets.logs.epochs.get(topic, {}).get(partition)),
        diverged_at=row.diverged_at,
        pending=pair in (offsets.commits.pending or ()),
        left=bool(left_topics(group, (topic,))),
        owner=owner,
        record_known=unread is not None and unread.failed is None and (aborted is None or aborted.failed is None),
        first_unread=unread.offset if unread else None,
        first_aborted=aborted.offset if aborted else None,
        record=gathered.records.get(at) if at else None,
        denied=gathered.denied.get(pair),
        transactions=tuple(gathered.transactions.get(pair, ())),
        history=history,
        other_commit=_other_commit(offsets, row, gathered),
        unavailable=tuple(dict.fromkeys(lacking)),
        bootstrap=gathered.bootstrap,
    )
