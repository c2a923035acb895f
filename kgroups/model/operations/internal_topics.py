"""Which internal topics of streams groups go with them: only those that are theirs by what runs, and by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..groups import Group, GroupState, GroupType
from ..offsets import PlanKey
from ..outcome import Failure, Outcome, Scope
from ..streams_groups import internal_topics, is_internal_name, is_ready
from .results import TopicDeletion

UNTOLD = "its topology is not reported: a source topic may be missing; its internal topics are unknown and are kept"
NO_WAY_BACK = "internal topics are deleted with all that is in them: no undo file puts that back"


def doomed_topics(groups: Iterable[Group], named: Collection[str] | None = None) -> Outcome[TopicDeletion]:
    """Those of the groups without members, sorted by group; where topics are ``named``, these of them, and a failure
    for each that no group has. So is a streams group whose topology is not told: which are its own, nobody knows."""
    doomed: list[TopicDeletion] = []
    seen: set[str] = set()
    failures: list[Failure] = []
    for group in sorted(groups):
        topics = internal_topics(group)
        seen.update(topics)
        if group.type == GroupType.STREAMS and not is_ready(group):
            failures.append(Failure(Scope.GROUP, group.group_id, UNTOLD))
        if group.state in GroupState.WITHOUT_MEMBERS:
            doomed += [TopicDeletion(group, topic) for topic in topics if named is None or topic in named]
    strange = sorted(set(named or ()) - seen)
    message = "not an internal topic of these groups: it is not deleted"
    failures += (Failure(Scope.TOPIC, topic, message) for topic in strange)
    return Outcome(tuple(doomed), tuple(failures))


def without_others(doomed: Outcome[TopicDeletion], groups: Iterable[str]) -> Outcome[TopicDeletion]:
    """Leave out topics that may belong to another group, whose longer name they begin with, too.

    A topology is what a client says, so that group ``orders`` may name ``orders-eu-store-changelog`` of ``orders-eu``.

    :param groups: the names of all groups.
    """
    names = sorted(groups)
    kept: list[TopicDeletion] = []
    failures: list[Failure] = []
    for each in doomed.items:
        own = each.group.group_id
        others = [name for name in names if name.startswith(f"{own}-") and is_internal_name(each.topic, name)]
        if others:
            message = f"not deleted: by its name it may belong to group '{others[-1]}', not to '{own}'"
            failures.append(Failure(Scope.TOPIC, each.topic, message))
        else:
            kept.append(each)
    return doomed.with_items(kept).with_failures(failures)


def kept_remarks(groups: Iterable[Group]) -> list[str]:
    """What is said of internal topics that stay when their group goes."""
    remarks = []
    for group in groups:
        if topics := internal_topics(group):
            flag = "--delete-all-internal-topics deletes them too"
            remarks.append(f"group '{group.group_id}' leaves its internal topics behind: {', '.join(topics)}; {flag}")
    return remarks


def of_inputs(keys: Iterable[PlanKey], groups: Iterable[Group], named: Collection[str] | None) -> Outcome[PlanKey]:
    """Of a reset of streams groups what concerns their input topics: what stands in internal topics belongs to the
    state that has come of it, and is not to be read again. One that was ``named`` all the same is a failure."""
    internal = {group.group_id: group for group in groups if group.type == GroupType.STREAMS}
    kept: list[PlanKey] = []
    refused: dict[tuple[str, str], None] = {}
    for key in keys:
        group, topic, _ = key
        if group not in internal or _is_input(internal[group], topic):
            kept.append(key)
        elif named is not None and topic in named:
            refused[group, topic] = None
    failures = (
        Failure(Scope.TOPIC, topic, f"not an input topic of streams group '{group}': it is not reset")
        for group, topic in refused
    )
    return Outcome(tuple(kept), tuple(failures))


def _is_input(group: Group, topic: str) -> bool:
    """Of an application that is not ready, for a topic is missing, whatever is not named as an internal topic."""
    if group.topology and is_ready(group):
        return topic in group.topology.sources
    return not is_internal_name(topic, group.group_id)
