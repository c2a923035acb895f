"""Check the offsets of a file against the cluster as it is now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.counts import count
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import Commit, Logs, Move, PlanKey
from kgroups.model.operations.origin import Mismatch, Origin
from kgroups.model.operations.reset import FromPlan, PlannedOffset, Scenario
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.protocol.apis.metadata import TopicLeaders

from ...routing.partition_leaders import partition_name
from .lookups import Committed
from .own_epochs import OwnEpochs
from .reset_request import ResetRequest

_SHOWN = 3


class _Checks(NamedTuple):
    scenario: FromPlan
    origin: Origin
    committed: Committed
    topics: Mapping[str, TopicLeaders]
    epochs: OwnEpochs | None = None

    def own(self, key: PlanKey, move: Move) -> Move:
        return self.epochs.own(key, move) if self.epochs else move

    def changed(self, topic: str) -> bool | None:
        """Whether a topic was deleted and recreated; ``None`` if unknown."""
        entry = self.topics.get(topic)
        return self.origin.topic_changed(topic, entry.topic_id if entry else 0)


def for_cluster(request: ResetRequest, cluster_id: str | None) -> tuple[ResetRequest, tuple[str, ...]]:
    """Return a request as it applies to a cluster, and what to say about it.

    :raises UsageError: if it is a file of another cluster, and that is not accepted.
    """
    scenario = request.scenario
    if not isinstance(scenario, FromPlan) or scenario.origin is None:
        return request, ()
    origin, notices = scenario.origin.on(cluster_id)
    return request._replace(scenario=replace(scenario, origin=origin)), notices


def unchanged_moves(
    scenario: Scenario, keys: Iterable[PlanKey], committed: Committed
) -> Iterator[tuple[PlanKey, Move]]:
    """Yield the old and the current commit of each partition of an undo whose offset is the same."""
    if isinstance(scenario, FromPlan) and scenario.exact and scenario.origin is not None:
        for key in keys:
            old, now = scenario.moves[key], committed[key[0]].get(key[1:])
            if old and now and old.offset == now.offset:
                yield key, old
                yield key, now


def applicable(
    scenario: Scenario,
    keys: Iterable[PlanKey],
    committed: Committed,
    topics: Mapping[str, TopicLeaders],
    epochs: OwnEpochs,
) -> tuple[Outcome[PlanKey], Counter[GroupId]]:
    """Return the offsets of a file that may be written, and what keeps the others from it; and how many those are.

    Of a recreated topic nothing is written, and neither is an offset that is another one than the file records. Of an
    undo, neither is what the run never wrote, and what is restored already. Other scenarios pass.
    """
    keys, refused = tuple(keys), Counter[GroupId]()
    if not isinstance(scenario, FromPlan) or scenario.origin is None:
        return Outcome(keys), refused
    checks = _Checks(scenario, scenario.origin, committed, topics, epochs)
    kept: list[PlanKey] = []
    failures: list[Failure] = []
    never: dict[GroupId, int] = {}
    already = 0
    for key in keys:
        before = committed[key[0]].get(key[1:])
        if scenario.exact and _has_it(checks, key, before):
            already += 1
        elif scenario.exact and _never_written(checks, key):
            never[key[0]] = never.get(key[0], 0) + 1
        elif refusal := _refusal(checks, key, before):
            failures.append(_failure(key, *refusal))
            refused[key[0]] += 1
        else:
            kept.append(key)
    notices = [*_notices(checks.origin, already, never)]
    unknown = {key[1] for key in kept if checks.changed(key[1]) is None and topics[key[1]].topic_id}
    if unknown and not scenario.exact:
        notices.append(
            f"{checks.origin.name} has no topic IDs to compare: a topic that was deleted and recreated is not noticed"
        )
    return Outcome(tuple(kept), tuple(failures), tuple(notices)), refused


def _has_it(checks: _Checks, key: PlanKey, before: Move) -> bool:
    """Whether nothing is to be restored: the same commit, or another client's of the same offset."""
    old, wrote = checks.own(key, checks.scenario.moves[key]), checks.origin.written.get(key)
    if before == old:
        return True
    if checks.own(key, before) != before:
        return False
    if before and old != checks.scenario.moves[key] and before._replace(leader_epoch=None) == old:
        return True
    return bool(before and old and before.offset == old.offset and wrote and wrote.offset != old.offset)


def _never_written(checks: _Checks, key: PlanKey) -> bool:
    return checks.origin.results.get(key) is Result.FAILED and Mismatch.OFFSET not in checks.origin.accepted


def _refusal(checks: _Checks, key: PlanKey, before: Move) -> tuple[str, Mismatch] | None:
    """Why an offset is not written, and the mismatch to accept."""
    scenario, origin = checks.scenario, checks.origin
    move = scenario.moves[key]
    done = "is not restored" if scenario.exact else "is not written"
    what = f"{_offset(move)} {done}" if move else "the offset is not deleted"
    if checks.changed(key[1]) and Mismatch.TOPIC not in origin.accepted:
        reason = f"{what}: the topic was deleted and recreated after {origin.name} was written"
        return reason, Mismatch.TOPIC
    if key not in origin.written or Mismatch.OFFSET in origin.accepted:
        return None
    wrote = origin.written[key]
    if _number(before) == _number(wrote) or (not scenario.exact and _number(before) == _number(scenario.moves[key])):
        return None
    then = "was written" if scenario.exact else "in the plan"
    reason = f"{what}: the committed offset has changed since: {_offset(wrote)} {then}, now {_offset(before)}"
    return reason, Mismatch.OFFSET


def _number(move: Move) -> int | None:
    return move.offset if move else None


def _offset(commit: Commit | None) -> str:
    return f"offset {commit.offset}" if commit else "no offset"


def _failure(key: PlanKey, reason: str, mismatch: Mismatch) -> Failure:
    message = f"group '{key[0]}': {reason}"
    return Failure(Scope.PARTITION, partition_name(key[1:]), message, reason=Reason.CHANGED, hint=mismatch.hint)


def _notices(origin: Origin, already: int, never: Mapping[GroupId, int]) -> Iterable[str]:
    if already:
        yield f"{count(already, 'offset is', 'offsets are')} already equal to those of {origin.name}"
    for group, number in sorted(never.items()):
        offsets = count(number, "offset")
        yield f"group '{group}': {offsets} not restored: {origin.name} records that it was never written"


def inside(
    scenario: Scenario, planned: Outcome[PlannedOffset], logs: Logs, topics: Mapping[str, TopicLeaders]
) -> Outcome[PlannedOffset]:
    """Return an undo without the offsets that are beyond the log end for no known reason.

    Where the topic is known to be the same one, or the offset was beyond the end before, the plan notes it. Where the
    log end is unknown, it notes that.
    """
    if not isinstance(scenario, FromPlan) or not scenario.exact or scenario.origin is None:
        return planned
    checks = _Checks(scenario, scenario.origin, {}, topics)
    kept: list[PlannedOffset] = []
    failures: list[Failure] = []
    for entry in planned.items:
        log = logs.offsets.get(entry.topic, {}).get(entry.partition)
        end = log.end if log else None
        if entry.after is None or (end is not None and entry.after.offset <= end):
            kept.append(entry)
        elif end is None:
            kept.append(entry._replace(note="log end offset unknown"))
        elif _excused(checks, entry):
            kept.append(entry)
        else:
            reason = (
                f"{_offset(entry.after)} is not restored: it is beyond the log end offset {end}, so the topic may have "
                "been recreated"
            )
            failures.append(_failure(entry.key, reason, Mismatch.TOPIC))
    return planned.with_items(kept).with_failures(failures)


def whole_groups(
    scenario: Scenario, planned: Outcome[PlannedOffset], refused: Mapping[GroupId, int]
) -> Outcome[PlannedOffset]:
    """Return an undo without the groups of which it can restore only a part: the consumers wrote the rest.

    Where the undo deletes an offset, they would begin anywhere.
    """
    if not isinstance(scenario, FromPlan) or not scenario.exact or not (scenario.origin and scenario.origin.written):
        return planned
    left = Counter(entry.group for entry in planned.items if entry.group in refused)
    failures = (
        Failure(
            Scope.GROUP,
            group,
            f"nothing is restored: {refused[group]:,} of {count(number + refused[group], 'offset')} would be left out",
            reason=Reason.CHANGED,
            hint=f"to restore only the {'other' if number == 1 else 'others'}, add --partial",
        )
        for group, number in sorted(left.items())
    )
    return planned.with_items(entry for entry in planned.items if entry.group not in left).with_failures(failures)


def _excused(checks: _Checks, entry: PlannedOffset) -> bool:
    same = checks.changed(entry.topic) is False
    return same or entry.key in checks.origin.beyond_end or Mismatch.TOPIC in checks.origin.accepted


def restored_groups(
    scenario: Scenario, planned: Iterable[PlannedOffset], committed: Committed, groups: Iterable[Group]
) -> list[str]:
    """Return how groups will differ from what they were although their offsets are restored."""
    if not isinstance(scenario, FromPlan) or not scenario.exact:
        return []
    there = {group.group for group in groups}
    left: dict[GroupId, set[tuple[str, int]]] = {}
    for entry in planned:
        pairs = left.setdefault(
            entry.group, {pair for pair, commit in committed[entry.group].items() if commit is not None}
        )
        change: Callable[[tuple[str, int]], None] = pairs.add if entry.after else pairs.discard
        change((entry.topic, entry.partition))
    modern = [name for name in left if name not in there and scenario.kinds.get(name) == GroupType.CONSUMER]
    empty = [name for name, pairs in left.items() if not pairs and name in there]
    notices = []
    if modern:
        notices.append(
            f"{_named(modern)} had the group type Consumer (KIP-848): the commit makes a Classic group, which "
            "becomes a Consumer group when its consumers join"
        )
    if empty:
        notices.append(
            f"{_named(empty)} will have no offsets left; Kafka removes it at once, or within "
            f"offsets.retention.check.interval.ms (10 minutes by default); kgroups delete removes it now"
        )
    return notices


def _named(names: Iterable[GroupId]) -> str:
    found = sorted(names)
    shown = ", ".join(f"'{name}'" for name in found[:_SHOWN])
    more = f", and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return f"{'group' if len(found) == 1 else 'groups'} {shown}{more}"
