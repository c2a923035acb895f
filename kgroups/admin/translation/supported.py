"""Which groups can be translated: those whose state is offsets, or whose other state is copied, too."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kgroups.errors import Reason
from kgroups.model.counts import count, some
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import place_name
from kgroups.model.outcome import Failure, Scope
from kgroups.model.streams_groups import CHANGELOG, classic_applications
from kgroups.model.translation.method import Impossible, Method, Translation
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import Metadata

from ..query.list_groups import fetch_groups
from ..routing.partition_leaders import topic_leaders
from .facts import find_all, log_of, read_facts, without_copy
from .find_offset import Finder, Limits, Position
from .log_reader import SOURCE, TARGET, LogReader, on_side

_MORE = (GroupType.SHARE, GroupType.STREAMS)
"""The types of groups whose state is more than offsets."""


async def keep_supported(
    source: Cluster, target: Cluster, groups: Sequence[Group], limits: Limits, *, streams: bool
) -> tuple[list[Group], list[Failure]]:
    """Return the groups that can be translated, and a failure for each of the others.

    :param streams: keep Kafka Streams applications under the classic protocol whose changelogs are copied.
    """
    failures = {each.group: _unsupported(each.group, f"{each.type} groups") for each in groups if each.type in _MORE}
    failures |= await _other_types(target, [each.group for each in groups if each.group not in failures])
    rest = [each for each in groups if each.group not in failures]
    applications = await _applications(source, rest)
    if streams:
        failures |= await _not_copied(source, target, applications, limits)
    else:
        failures |= {name: _application(name, topics) for name, topics in applications.items()}
    return [each for each in rest if each.group not in failures], [failures[name] for name in sorted(failures)]


def _unsupported(group: GroupId, what: str, hint: str | None = None) -> Failure:
    text = f"{what}: its state is more than offsets: it cannot be translated"
    return Failure(Scope.GROUP, group, text, reason=Reason.NOT_APPLICABLE, hint=hint)


def _application(group: GroupId, topics: Collection[str]) -> Failure:
    why = f"{count(len(topics), 'internal topic')}: {some(topics)}" if topics else "by the protocol of its members"
    hint = "copy its changelog and repartition topics, too, under the same names, and add --including-streams"
    return _unsupported(group, f"Kafka Streams application ({why})", hint)


async def _other_types(target: Cluster, names: Collection[GroupId]) -> dict[GroupId, Failure]:
    """Return the groups whose name is that of a share or streams group on the target."""
    if not names:
        return {}
    types = {each.group: each.type for each in (await fetch_groups(target)).items if each.type in _MORE}
    return {
        name: on_side(TARGET, Failure(Scope.GROUP, name, _is_other(types[name]), reason=Reason.NOT_APPLICABLE))
        for name in names
        if name in types
    }


def _is_other(kind: str | None) -> str:
    return f"it is a {kind} group, whose state is more than offsets: it cannot continue that of the source"


async def _applications(source: Cluster, groups: Sequence[Group]) -> Mapping[GroupId, list[str]]:
    """Return the Kafka Streams applications among the groups, with their internal topics."""
    if not groups:
        return {}
    topics = [each.topic for each in (await source.call_any(Metadata(None))).topics if not each.error]
    found = classic_applications(groups, topics, {each.group for each in groups})
    if not any(found.values()):
        return found
    # Some may be named as the topics of another application, which is not selected.
    every = {each.group for each in (await fetch_groups(source)).items}
    return classic_applications(groups, topics, every.union(each.group for each in groups))


async def _not_copied(
    source: Cluster, target: Cluster, applications: Mapping[GroupId, list[str]], limits: Limits
) -> dict[GroupId, Failure]:
    """Return the applications of which a changelog is not copied to its end."""
    owners = {topic: name for name, topics in applications.items() for topic in topics if topic.endswith(CHANGELOG)}
    if not owners:
        return {}
    leaders = await topic_leaders(source, sorted(owners))
    pairs = [(topic, partition) for topic, entry in leaders.items() for partition in sorted(entry.leaders)]
    facts = await read_facts(source, target, pairs, {topic: topic for topic in owners})
    readers = LogReader(source, SOURCE, facts.source_topics), LogReader(target, TARGET, facts.target_topics)
    finder = Finder(*readers, frozenset({Method.RECORD, Method.END}), limits, facts.compacted)
    ends = {pair: log_of(facts.source_logs, pair) for pair in pairs}
    found = {
        position: without_copy(position, facts)
        for position in (Position(pair, log.end or 0, pair) for pair, log in ends.items())
    }
    empty = {pair for pair, log in ends.items() if log.end is not None and log.start == log.end}
    wanted = [at for at, why in found.items() if why is None and at.source not in empty]
    found |= await find_all(facts, wanted, finder, source.progress)
    failures: dict[GroupId, Failure] = {}
    for position, each in sorted(found.items()):
        if each is not None and not each.exact:
            name = owners[position.source[0]]
            text = f"its state is not copied: {place_name(*position.source)}: {_reason(each)}"
            failures.setdefault(name, Failure(Scope.GROUP, name, text, reason=Reason.NOT_APPLICABLE))
    return failures


def _reason(each: Translation) -> str:
    if each.why is None:
        return f"{Impossible.NOT_COPIED_YET}: the last record was not found"
    return f"{each.why}: {each.evidence}"
