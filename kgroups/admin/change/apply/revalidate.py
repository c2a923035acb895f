"""Check a plan again, right before it is applied: groups and logs must be as they were when it was made."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from kgroups.errors import Reason
from kgroups.model.counts import some
from kgroups.model.groups import Group, GroupState
from kgroups.model.offsets import LogOffsets, LogProblem, Logs, place_name
from kgroups.model.operations.committing import pending_words
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.model.operations.results import GroupDeletion
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import TopicLeaders

from ...query.leader_epochs import EpochAt, logs_kept
from ...query.select_groups import Selection
from ...routing.backoff import Backoff
from ...routing.partition_leaders import topic_leaders
from ..plan.lookups import Committed, Pending, groups_with_offsets, has_members, logs_at
from ..plan.reset_request import converted

AGAIN = "nothing was written; run the command again"


async def revalidate_offsets(
    cluster: Cluster, planned: Iterable[PlannedOffset], *, with_members: bool = False, force: bool = False
) -> Outcome[PlannedOffset]:
    """Return planned offsets without those of groups that are not as planned; these are failures.

    Compared are members, committed offsets, open transactions, topic IDs, and the logs at the new offsets.

    :param with_members: keep groups that have members, for deletions of offsets that no member uses.
    :param force: keep groups with other offsets, which become ``before``, or with open transactions.
    """
    entries = list(planned)
    if not entries:
        return Outcome()
    names = tuple(sorted({entry.group for entry in entries}))
    types = {entry.group: entry.kind for entry in entries}
    backoff = Backoff.of(cluster)
    while True:
        (groups, committed, pending), (moved, leaderless) = await asyncio.gather(
            groups_with_offsets(cluster, Selection(names), types), _moved_logs(cluster, entries)
        )
        if not leaderless or not await backoff.wait():  # elections of a rolling restart are over soon
            break
    unread = [failure for failure in groups.failures if failure.error != NOT_FOUND]
    unknown = {failure.name for failure in unread}
    readable = {name: commits for name, commits in committed.items() if name not in unknown}
    by_name = {group.group: group for group in groups.items}
    kept: list[PlannedOffset] = []
    failures: list[Failure] = []
    for name, part in by_group(entries):
        if name not in readable:
            continue  # it could not be read, and has a failure already
        reason = _reason(by_name.get(name), part, readable, {} if force else pending, moved, with_members=with_members)
        commits = readable[name]
        if reason is None and not force and name not in by_name and any(entry.before for entry in part):
            message = "the group does not exist any more; nothing was written"
            reason = Failure(Scope.GROUP, name, message, reason=Reason.CHANGED)
        if reason is None and any(commits.get((entry.topic, entry.partition)) != entry.before for entry in part):
            if force:
                part = [entry._replace(before=commits.get((entry.topic, entry.partition))) for entry in part]
            else:
                message = f"its offsets have changed since the plan was made; {AGAIN}"
                reason = Failure(Scope.GROUP, name, message, reason=Reason.CHANGED)
        if reason is None:
            kept += part
        else:
            failures.append(reason)
    return Outcome(tuple(kept), (*failures, *unread))


def _reason(
    group: Group | None,
    part: Sequence[PlannedOffset],
    committed: Committed,
    pending: Pending,
    moved: Mapping[tuple[str, int, int | None], str],
    *,
    with_members: bool,
) -> Failure | None:
    """Return why the offsets of a group must not be written, apart from other offsets."""
    name = part[0].group
    if group and group.state not in GroupState.WITHOUT_MEMBERS and not with_members:
        return has_members(group)
    if group and (now := converted(group, part[0].kind)):
        return Failure(Scope.GROUP, name, f"{now}; {AGAIN}", reason=Reason.CHANGED)
    if open_now := pending.get(name):
        held = sorted({(entry.topic, entry.partition) for entry in part} & open_now)
        if held:
            return Failure(Scope.GROUP, name, f"{pending_words(held)}; {AGAIN}", reason=Reason.CHANGED)
    if not moved:
        return None
    reasons = [moved[at] for entry in part if (at := _log_key(entry)) in moved]
    return (
        Failure(Scope.GROUP, name, f"{some(list(dict.fromkeys(reasons)))}; {AGAIN}", reason=Reason.CHANGED)
        if reasons
        else None
    )


def _log_key(entry: PlannedOffset) -> tuple[str, int, int | None]:
    return entry.topic, entry.partition, entry.new


async def _moved_logs(
    cluster: Cluster, entries: Sequence[PlannedOffset]
) -> tuple[dict[tuple[str, int, int | None], str], bool]:
    """Return why offsets do not mean in a log what they meant when they were planned.

    In second place: whether a log that must be read has no leader.
    """
    seen = {_log_key(entry): entry for entry in entries}
    written = {(topic, partition) for topic, partition, new in seen if new is not None}
    others = {topic for topic, _, new in seen if new is None} - {topic for topic, _ in written}
    others |= {entry.topic for entry in seen.values() if entry.seen.partitions is not None}
    topics: Mapping[str, TopicLeaders] = await topic_leaders(cluster, sorted(others)) if others else {}
    logs, _, _ = await logs_at(cluster, written, None, topics)
    ids = {topic: entry.topic_id for topic, entry in topics.items()} | dict(logs.topic_ids)
    moved = {at: reason for at, entry in seen.items() if (reason := _moved(entry, logs, ids) or _grown(entry, topics))}
    elected = {
        at: EpochAt(entry.topic, entry.partition, entry.after.offset, entry.seen.epoch)
        for at, entry in seen.items()
        if at not in moved and entry.after and entry.seen.epoch is not None and _inside(entry) and _elected(entry, logs)
    }
    kept = await logs_kept(cluster, frozenset(elected.values())) if elected else {}
    for at, epoch_at in elected.items():
        place = place_name(epoch_at.topic, epoch_at.partition)
        if epoch_at not in kept:
            moved[at] = f"{place} has another leader now, and it is unknown whether its log was truncated"
        elif not kept[epoch_at]:
            moved[at] = f"the log of {place} was truncated below offset {epoch_at.offset} by an unclean leader election"
    leaderless = any(
        logs.problems.get((entry.topic, entry.partition)) is LogProblem.LEADERLESS
        for at, entry in seen.items()
        if at in moved
    )
    return moved, leaderless


def _moved(entry: PlannedOffset, logs: Logs, ids: Mapping[str, int]) -> str | None:
    """Return what has happened to the topic or the log of a planned offset."""
    seen, place = entry.seen, place_name(entry.topic, entry.partition)
    current = ids.get(entry.topic)
    epoch = logs.epochs.get(entry.topic, {}).get(entry.partition)
    older = seen.epoch is not None and epoch is not None and epoch < seen.epoch
    if (seen.topic_id and current and current != seen.topic_id) or older:
        return f"topic {entry.topic} was deleted and created again since the plan was made"
    if entry.after is None or seen.end is None or seen.start is None:
        return None
    start, end = logs.offsets.get(entry.topic, {}).get(entry.partition, LogOffsets())
    if start is None or end is None:
        why = logs.holes.get((entry.topic, entry.partition), "no response")
        return f"the log of {place} cannot be read now: {why}"
    offset = entry.after.offset
    if not _inside(entry):
        return None
    if offset > end:
        return f"the log of {place} ends at offset {end} now, below offset {offset}: it was truncated"
    if offset < start:
        return f"the log of {place} starts at offset {start} now, above offset {offset}: its records were deleted"
    return None


def _grown(entry: PlannedOffset, topics: Mapping[str, TopicLeaders]) -> str | None:
    """Return whether a topic of which all partitions were selected has more of them now."""
    was, now = entry.seen.partitions, topics.get(entry.topic)
    if was is None or now is None or now.error or len(now.leaders) <= was:
        return None
    return f"topic {entry.topic} has {len(now.leaders)} partitions now, and {was} when the plan was made"


def _inside(entry: PlannedOffset) -> bool:
    """Return whether the new offset was in the log when it was planned; others are restored as they were."""
    seen, new = entry.seen, entry.new
    return new is not None and seen.start is not None and seen.end is not None and seen.start <= new <= seen.end


def _elected(entry: PlannedOffset, logs: Logs) -> bool:
    """Return whether the partition has had another leader since."""
    return logs.epochs.get(entry.topic, {}).get(entry.partition) != entry.seen.epoch


def revalidate_deletions(
    planned: Iterable[GroupDeletion], now: Outcome[GroupDeletion], *, force: bool = False
) -> Outcome[GroupDeletion]:
    """Return the groups that can be deleted now and are as planned; the others are failures.

    :param now: a new plan of the same groups.
    :param force: keep groups with other offsets, or with open transactions.
    """
    before = {each.group.group: each for each in planned}
    kept: list[GroupDeletion] = []
    failures: list[Failure] = []
    for each in now.items:
        reason = None if force else _differs(each, before.get(each.group.group))
        if reason is None:
            kept.append(each)
        else:
            failures.append(
                Failure(
                    Scope.GROUP,
                    each.group.group,
                    f"{reason}; not deleted; run the command again",
                    reason=Reason.CHANGED,
                )
            )
    return now.with_items(kept).with_failures(failures)


def _differs(now: GroupDeletion, planned: GroupDeletion | None) -> str | None:
    if now.pending:
        return pending_words(sorted(now.pending))
    if planned is None or now.commits != planned.commits:
        return "its offsets have changed since the plan was made"
    for topic, topic_id in sorted(planned.topic_ids.items()):
        if now.topic_ids.get(topic, topic_id) != topic_id:
            return f"topic {topic} was deleted and created again since the plan was made"
    return None
