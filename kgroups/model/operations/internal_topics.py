"""Internal topics that belong to one streams group: its topology uses them and their name starts with its ID."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kgroups.errors import Reason

from ..groups import Group, GroupState, GroupType
from ..offsets import PlanKey
from ..outcome import Failure, Outcome, Scope
from ..streams_groups import internal_topics, is_internal_name, is_ready
from .results import TopicDeletion

UNREPORTED = "its topology is not reported, a source topic may be missing; its internal topics are unknown and are kept"
NOT_RESTORABLE = "internal topics are deleted with all their records; an undo file cannot restore them"


def plan_topic_deletions(groups: Iterable[Group], named: Collection[str] | None = None) -> Outcome[TopicDeletion]:
    """Return the internal topics to delete, of groups without members, sorted by group.

    :param named: only these topics; the outcome has a failure for each that no group has.

    A streams group whose topology is not reported is a failure, because its internal topics are unknown.
    """
    deletions: list[TopicDeletion] = []
    seen: set[str] = set()
    failures: list[Failure] = []
    for group in sorted(groups):
        topics = internal_topics(group)
        seen.update(topics)
        if group.type == GroupType.STREAMS and not is_ready(group):
            failures.append(Failure(Scope.GROUP, group.group, UNREPORTED, reason=Reason.COORDINATOR_UNAVAILABLE))
        if group.state in GroupState.WITHOUT_MEMBERS:
            deletions += [TopicDeletion(group, topic) for topic in topics if named is None or topic in named]
    unknown = sorted(set(named or ()) - seen)
    message = "not an internal topic of these groups; not deleted"
    failures += (Failure(Scope.TOPIC, topic, message, reason=Reason.NOT_APPLICABLE) for topic in unknown)
    return Outcome(tuple(deletions), tuple(failures))


def without_others(deletions: Outcome[TopicDeletion], groups: Iterable[str]) -> Outcome[TopicDeletion]:
    """Omit topics that may belong to another group, whose longer name they also start with.

    Clients declare the topology, so that group ``orders`` may use ``orders-eu-store-changelog`` of ``orders-eu``.

    :param groups: the names of all groups.
    """
    names = sorted(groups)
    kept: list[TopicDeletion] = []
    failures: list[Failure] = []
    for each in deletions.items:
        own = each.group.group
        others = [name for name in names if name.startswith(f"{own}-") and is_internal_name(each.topic, name)]
        if others:
            message = f"not deleted: its name also matches group '{others[-1]}', not only '{own}'"
            failures.append(Failure(Scope.TOPIC, each.topic, message, reason=Reason.NOT_APPLICABLE))
        else:
            kept.append(each)
    return deletions.with_items(kept).with_failures(failures)


def without_hidden(deletions: Outcome[TopicDeletion]) -> Outcome[TopicDeletion]:
    """Omit all topics, because some of the groups are unknown to which they may belong."""
    message = "not deleted: other groups may be hidden (DESCRIBE on CLUSTER shows them), to which it may belong"
    failures = (Failure(Scope.TOPIC, each.topic, message, reason=Reason.NOT_APPLICABLE) for each in deletions.items)
    return deletions.with_items(()).with_failures(failures)


def kept_remarks(groups: Iterable[Group]) -> list[str]:
    """Return notices about internal topics that are kept when their group is deleted."""
    remarks = []
    for group in groups:
        if topics := internal_topics(group):
            flag = "to delete them, add --delete-all-internal-topics"
            remarks.append(f"internal topics of group '{group.group}' are kept: {', '.join(topics)}; {flag}")
    return remarks


def of_inputs(keys: Iterable[PlanKey], groups: Iterable[Group], named: Collection[str] | None) -> Outcome[PlanKey]:
    """Return the partitions of a reset; for streams groups, only partitions of input topics.

    Internal topics belong to state that exists already, and must not be read again.

    :param named: topics that were selected by name: an internal one is a failure.
    """
    internal = {group.group: group for group in groups if group.type == GroupType.STREAMS}
    kept: list[PlanKey] = []
    rejected: dict[tuple[str, str], None] = {}
    for key in keys:
        group, topic, _ = key
        if group not in internal or _is_input(internal[group], topic):
            kept.append(key)
        elif named is not None and topic in named:
            rejected[group, topic] = None
    failures = (
        Failure(
            Scope.TOPIC,
            topic,
            f"not an input topic of streams group '{group}'; not reset",
            reason=Reason.NOT_APPLICABLE,
        )
        for group, topic in rejected
    )
    return Outcome(tuple(kept), tuple(failures))


def _is_input(group: Group, topic: str) -> bool:
    """Return whether a topic is an input topic.

    If a group is not ready because a topic is missing, all topics count that are not named as internal topics.
    """
    if group.topology and is_ready(group):
        return topic in group.topology.sources
    return not is_internal_name(topic, group.group)
