"""Translate the committed offsets of groups to another cluster. Nothing is changed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from kgroups.errors import Reason, UsageError
from kgroups.model.counts import count, some
from kgroups.model.groups import Group, GroupId, GroupState
from kgroups.model.offsets import Commit, LogOffsets, place_name
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.model.permissions import DESCRIBE_CLUSTER, Unchecked, omitted_commits
from kgroups.model.translation.method import Impossible, Method, Translation
from kgroups.model.translation.mirror_names import MirrorNames
from kgroups.model.translation.syncs import OffsetPair
from kgroups.model.translation.topics import OPTION, TopicMap, check_distinct, renamed
from kgroups.model.waves import is_of_cluster
from kgroups.net.cluster import Cluster
from kgroups.net.progress import Progress

from ..change.plan.lookups import Committed, Pending, committed_by_group, groups_with_offsets
from ..query.group_offsets import fetch_commits, hidden_topics_of
from ..query.list_groups import fetch_groups
from ..query.select_groups import Selection, note_missing_groups
from ..routing.partition_leaders import TopicPartition, Topics
from .facts import Facts, find_all, log_of, read_facts, without_copy
from .find_offset import Finder, Limits, Position
from .log_reader import SOURCE, TARGET, LogReader, Unread, on_side
from .mirror import Mirror, read_mirror
from .supported import keep_supported

CLOCKS_DIFFER = 60_000
"""Milliseconds by which the clocks of producers and of MirrorMaker 2 may differ."""
PART = 50_000
"""Offsets whose translations are in memory at a time, at least."""


class Request(NamedTuple):
    """What to translate, and how.

    ``methods``: the accepted ones. ``header``: the name of the header with the source's offset. ``mirror``: how
    MirrorMaker 2 names its topics; ``None``: it is not used.
    """

    selection: Selection
    methods: frozenset[Method]
    topic_map: TopicMap = ()
    header: str | None = None
    mirror: MirrorNames | None = None
    limits: Limits = Limits()
    streams: bool = False
    """Whether to translate Kafka Streams applications under the classic protocol, whose changelogs are copied."""


class Translated(NamedTuple):
    """The committed offset of a group on a partition of the source, its translation, and the one on the target."""

    group: GroupId
    kind: str | None
    topic: str
    partition: int
    commit: Commit
    target_topic: str
    old: Commit | None
    translation: Translation
    known_there: bool = True
    """Whether the group's offsets on the target could be read; otherwise, ``old`` is unknown."""
    outside: bool = False
    """Whether ``old`` is known to be outside of its log: ``auto.offset.reset`` decides where the group continues."""
    mark: str = ""
    """The metadata of commits that translate writes, if those of the source have none."""
    mirrored: frozenset[int] = frozenset()
    """The offsets of the copy that MirrorMaker 2 may have committed: those of its last checkpoints."""

    @property
    def pair(self) -> TopicPartition:
        return self.topic, self.partition


class Gathered(NamedTuple):
    """What is known about groups on both clusters.

    ``copies``: the name of the copy of each topic that a group uses. ``there``: the committed offsets on the target,
    without the groups whose offsets could not be read; ``pending_there``: those in open transactions.
    """

    groups: Outcome[Group]
    committed: Committed
    there: Committed
    copies: Mapping[str, str]
    facts: Facts
    mirror: Mirror | None = None
    pending: Pending = MappingProxyType({})
    pending_there: Pending = MappingProxyType({})
    mark: str = ""

    @property
    def live(self) -> frozenset[GroupId]:
        """The groups with members on the source, whose offsets go on."""
        return frozenset(group.group for group in self.groups.items if not _is_empty(group))

    def position(self, pair: TopicPartition, commit: Commit) -> Position:
        return Position(pair, commit.offset, (self.copies[pair[0]], pair[1]))

    def by_sync(self, group: GroupId, pair: TopicPartition, commit: Commit) -> Translation | None:
        """Return the translation that MirrorMaker 2's records prove, or why they prove none.

        ``None``: there are no such records, or they are about another copy of the topic.
        """
        copy = self.copies[pair[0]], pair[1]
        if self.mirror is None or self.mirror.names.copy_of(pair[0]) != copy[0]:
            return None
        ends = log_of(self.facts.source_logs, pair).end, log_of(self.facts.target_logs, copy).end
        if None in ends:
            unknown = Translation.impossible(Impossible.UNREADABLE, "the end of a log is unknown")
            return without_copy(self.position(pair, commit), self.facts) or unknown
        found = self.mirror.translate(group, *pair, commit.offset, OffsetPair(*ends))  # type: ignore[arg-type]
        if isinstance(found, str):
            return Translation.impossible(Impossible.NOT_FOUND, found)
        start = log_of(self.facts.target_logs, copy).start
        if start is not None and found.offset < start:
            text = f"{found.evidence}, and the copy begins at {start:,}"
            return Translation.impossible(Impossible.TRUNCATED, text)
        return Translation(found.offset, Method.SYNC, found.evidence, found.at_most)

    def mirrored(self, group: GroupId, pair: TopicPartition) -> frozenset[int]:
        if self.mirror is None:
            return frozenset()
        return frozenset(each.downstream for each in self.mirror.checkpoints_of(group, pair))

    def commits(self) -> Iterator[tuple[Group, TopicPartition, Commit]]:
        """Yield the committed offsets on the source, sorted."""
        for group in sorted(self.groups.items, key=attrgetter("group")):
            for pair, commit in sorted(self.committed.get(group.group, {}).items()):
                if commit:
                    yield group, pair, commit

    def only_there(self) -> Iterator[tuple[GroupId, str, TopicPartition, Commit]]:
        """Yield committed offsets on copies, with the topic of the source, on which the group has none."""
        topics = {copy: topic for topic, copy in self.copies.items()}
        for group in self.groups.items:
            here = self.committed.get(group.group)
            if here is None:
                continue  # its offsets could not be read
            for (copy, partition), commit in self.there.get(group.group, {}).items():
                if commit and copy in topics and not here.get((topics[copy], partition)):
                    yield group.group, topics[copy], (copy, partition), commit

    def uncommitted(self) -> Iterator[Uncommitted]:
        """Yield the partitions without a committed offset on either side where records may be unread."""
        for group, (topic, partition) in _without_commit(self.groups.items, self.committed, self.facts.source_topics):
            copy, there = (self.copies[topic], partition), self.there.get(group)
            if there is None or there.get(copy):
                continue  # a failure, or of :meth:`only_there`
            log, copied = log_of(self.facts.source_logs, (topic, partition)), log_of(self.facts.target_logs, copy)
            if log.is_empty and (copied.is_empty or self.facts.lacks(copy)):
                continue
            yield Uncommitted(group, topic, partition, copy[0], log, copied)

    def untraced(self) -> Iterator[GroupId]:
        """Yield the groups without a committed offset on the source whose topics are unknown."""
        for group in self.groups.items:
            commits = self.committed.get(group.group)
            if commits is not None and not _topics_of(group, commits):
                yield group.group


class Uncommitted(NamedTuple):
    """A partition on which a group has no committed offset on either cluster, and its log on both.

    Where its consumers begin follows from their ``auto.offset.reset``.
    """

    group: GroupId
    topic: str
    partition: int
    target_topic: str
    log: LogOffsets
    copy: LogOffsets


def _topics_of(group: Group, commits: Mapping[TopicPartition, object]) -> set[str]:
    """Return the topics that a group uses, as far as commits and subscriptions show them."""
    return {*(topic for topic, _ in commits), *group.subscribed_topics()}


def _without_commit(
    groups: Iterable[Group], committed: Committed, topics: Topics
) -> Iterator[tuple[GroupId, TopicPartition]]:
    """Yield the partitions of the topics that groups use on which they have no committed offset."""
    for group in groups:
        commits = committed.get(group.group)
        if commits is None:
            continue  # its offsets could not be read
        for topic in sorted(_topics_of(group, commits)):
            for partition in sorted(topics[topic].leaders):
                if not commits.get((topic, partition)):
                    yield group.group, (topic, partition)


async def gather(source: Cluster, target: Cluster, request: Request) -> Gathered:
    """Look up groups, topics, and logs on both clusters.

    :raises UsageError: if both clusters are the same, or two topics have the same copy.
    """
    if source.cluster_id is not None and source.cluster_id == target.cluster_id:
        raise UsageError(f"both clusters are the same, {source.cluster_id}")
    groups, committed, pending = await groups_with_offsets(source, request.selection)
    kept, failures = await keep_supported(source, target, groups.items, request.limits, streams=request.streams)
    notices = [
        f"group '{each.group}' has members on the source: its offsets go on" for each in kept if not _is_empty(each)
    ]
    offsets: dict[TopicPartition, dict[GroupId, int]] = {}
    for group in kept:
        for pair, commit in committed.get(group.group, {}).items():
            if commit:
                offsets.setdefault(pair, {})[group.group] = commit.offset
    mirror = None if request.mirror is None else await read_mirror(source, target, request.mirror, offsets)
    used = {topic for group in kept for topic in _topics_of(group, committed.get(group.group, {}))}
    copies = {topic: _copy_of(topic, request.topic_map, mirror) for topic in used}
    check_distinct(sorted(copies.items()))
    names = [group.group for group in kept]
    commits, facts = await asyncio.gather(
        fetch_commits(target, dict.fromkeys(names)),
        read_facts(
            *(source, target, offsets, copies),
            more=lambda topics: (pair for _, pair in _without_commit(kept, committed, topics)),
        ),
    )
    if mirror:
        await _check_times(target, mirror, copies, facts)
    there = committed_by_group(commits)
    failures += [on_side(TARGET, failure) for name, failure in commits.failed.items() if name not in there]
    failures += facts.failures
    noted = await note_missing_groups(source, request.selection, groups)
    notices += (f"{SOURCE}: {each}" for each in noted.notices[len(groups.notices) :])
    if kept or noted.hidden_by:
        failures += await _hidden(source)
    notices += _unused_rules(request.topic_map, {topic for topic, _ in offsets})
    ours = tuple(on_side(SOURCE, failure) for failure in await _perhaps_swapped(target, groups.failures))
    groups = groups._replace(failures=ours, hidden_by=noted.hidden_by).with_items(kept).with_failures(failures, notices)
    if mirror:
        groups = groups.with_failures(mirror.failures, mirror.notices)
    pending_there = {name: each.pending for name, (_, each) in commits.found.items() if each.pending}
    mark = f"kgroups translate from {source.cluster_id}"
    return Gathered(groups, committed, there, copies, facts, mirror, pending, pending_there, mark)


async def _perhaps_swapped(target: Cluster, failures: Sequence[Failure]) -> list[Failure]:
    """Return the failures, with a hint where a group that does not exist on the source exists on the target."""
    missing = {each.name for each in failures if each.error == NOT_FOUND}
    there = {each.group for each in (await fetch_groups(target)).items} if missing else frozenset()
    hint = "the group exists on the target: the clusters may be swapped"
    return [each._replace(hint=hint) if each.name in missing & there else each for each in failures]


async def _hidden(source: Cluster) -> list[Failure]:
    """Return that committed offsets on the source are or may be hidden: only the others are translated."""
    hidden = await hidden_topics_of(source, frozenset())
    if isinstance(hidden, frozenset):
        hidden = frozenset(topic for topic in hidden if not is_of_cluster(topic))
    why = omitted_commits(hidden)
    if not why:
        return []
    acl = DESCRIBE_CLUSTER if isinstance(hidden, str) and not isinstance(hidden, Unchecked) else None
    return [Failure(Scope.CLUSTER, "", f"{SOURCE}: {why}", acl=acl, reason=Reason.OFFSETS_HIDDEN)]


async def _check_times(target: Cluster, mirror: Mirror, copies: Mapping[str, str], facts: Facts) -> None:
    """Use no syncs that are older than a record before them: they are of an earlier copy, which was deleted since.

    If MirrorMaker 2 left out the first sync of the new copy, the syncs themselves do not show it.
    """
    reader = LogReader(target, TARGET, facts.target_topics)

    async def check(pair: TopicPartition, synced: OffsetPair, ms: int) -> None:
        try:
            later = await reader.offset_at((copies[pair[0]], pair[1]), ms + CLOCKS_DIFFER)
        except Unread as error:
            mirror.unknown.setdefault(pair, f"whether the offset syncs are of this copy is unknown: {error}")
            return
        if later is not None and later <= synced.downstream:
            mirror.unknown.setdefault(
                pair,
                f"the offset sync {synced} is older than the record at {later:,} of the copy: it is of an earlier copy,"
                " or the record's time is wrong",
            )

    used = {pair: syncs.first_used() for pair, syncs in mirror.syncs.items()}
    await asyncio.gather(
        *(
            check(pair, *each)
            for pair, each in used.items()
            if each and each[1] >= 0 and pair[1] in facts.target_logs.offsets.get(copies[pair[0]], {})
        )
    )


def _unused_rules(rules: TopicMap, topics: Iterable[str]) -> Iterator[str]:
    names = list(topics)
    for rule in rules:
        if all(rule.rename(name) is None for name in names):
            yield f"{OPTION} {rule.source}={rule.target}: no group has a committed offset on such a topic"


def _copy_of(topic: str, rules: TopicMap, mirror: Mirror | None) -> str:
    return renamed(topic, rules) or (mirror.names.copy_of(topic) if mirror else topic)


@dataclass(frozen=True)
class Translations:
    """A translation, or the reason why there is none, for each committed offset, sorted; made as they are iterated.

    ``outcome``: what failed, without items. ``by_record``: what records prove. ``synced``: whether offset syncs count.
    """

    outcome: Outcome[Translated]
    gathered: Gathered
    by_record: Mapping[Position, Translation]
    synced: bool

    def __iter__(self) -> Iterator[Translated]:
        gathered = self.gathered
        for group, pair, commit in gathered.commits():
            name, position = group.group, gathered.position(pair, commit)
            copy = position.target
            old = gathered.there.get(name, {}).get(copy)
            by_sync = gathered.by_sync(name, pair, commit) if self.synced else None
            translation = _better(by_sync or _UNPROVED, self.by_record.get(position))
            if pair in gathered.pending.get(name, ()):
                translation = _PENDING
            outside = old is not None and _is_outside(old.offset, log_of(gathered.facts.target_logs, copy))
            known = name in gathered.there
            mark = f"{gathered.mark} for {sha256(name.encode()).hexdigest()[:12]}"  # not that of a copied group
            origins = mark, gathered.mirrored(name, pair)
            yield Translated(name, group.type, *pair, commit, copy[0], old, translation, known, outside, *origins)

    def parts(self, least: int = PART) -> Iterator[list[Translated]]:
        """Yield the translations of several whole groups at a time."""
        part: list[Translated] = []
        for _, of_group in groupby(self, attrgetter("group")):
            part += of_group
            if len(part) >= least:
                yield part
                part = []
        if part:
            yield part


async def translate(source: Cluster, target: Cluster, request: Request) -> Translations:
    """Translate the committed offsets of groups.

    :raises UsageError: if both clusters are the same, or two topics have the same copy.
    """
    gathered = await gather(source, target, request)
    numbers = Counter(group for group, *_ in gathered.only_there())
    notices = [
        f"group '{group}': {count(number, 'partition')} with a committed offset only on the target: left as it is"
        for group, number in numbers.items()
    ]
    notices += _note_uncommitted(gathered)
    gathered = gathered._replace(groups=gathered.groups.with_failures((), notices))
    return await translate_gathered(gathered, finder_of(source, target, request, gathered.facts), target.progress)


def _note_uncommitted(gathered: Gathered) -> Iterator[str]:
    found = [f"{place_name(each.topic, each.partition)} of '{each.group}'" for each in gathered.uncommitted()]
    if found:
        where = f"no committed offset on {count(len(found), 'partition')} where records may be unread: {some(found)}"
        yield f"{where}; auto.offset.reset decides there; kgroups parity shows each"
    if untraced := list(map(repr, gathered.untraced())):
        yield f"no committed offset on the source, and no member that shows a topic: {some(untraced)}"


async def translate_gathered(gathered: Gathered, finder: Finder, progress: Progress) -> Translations:
    """Return what :func:`translate` does.

    Where MirrorMaker 2 recorded the very offset, no records are read: then all groups cost as many requests as one.
    """
    synced = finder.accepts(Method.SYNC)
    positions: dict[Position, None] = {}
    for group, pair, commit in gathered.commits() if finder.reads_records else ():
        by_sync = gathered.by_sync(group.group, pair, commit) if synced else None
        if not (by_sync and by_sync.exact):
            positions[gathered.position(pair, commit)] = None
    by_record = await find_all(gathered.facts, positions, finder, progress)
    outcome: Outcome[Translated] = gathered.groups.with_items(()).with_failures(finder.denied)
    return Translations(outcome, gathered, by_record, synced)


def _is_outside(offset: int, log: LogOffsets) -> bool:
    return (log.start is not None and offset < log.start) or (log.end is not None and offset > log.end)


_PENDING = Translation.impossible(Impossible.PENDING, "it holds a newer offset, which counts if it commits")
_UNPROVED = Translation.impossible(Impossible.NOT_FOUND, "")


def _better(by_sync: Translation, by_record: Translation | None) -> Translation:
    """Return the translation to use: what records prove, unless they do not, or only that of the time."""
    if by_record is None:
        return by_sync
    if by_sync.offset is not None and (by_record.offset is None or by_record.method is Method.TIME):
        return by_sync
    if by_record.offset is None and by_sync.evidence:
        return by_record._replace(evidence=f"{by_record.evidence}; {by_sync.evidence}")
    return by_record


def _is_empty(group: Group) -> bool:
    return group.state in GroupState.WITHOUT_MEMBERS


def finder_of(source: Cluster, target: Cluster, request: Request, facts: Facts) -> Finder:
    header = request.header.encode() if request.header else None
    return Finder(
        LogReader(source, SOURCE, facts.source_topics),
        LogReader(target, TARGET, facts.target_topics, header),
        request.methods - (frozenset() if header else {Method.HEADER}),
        request.limits,
        facts.compacted,
    )
