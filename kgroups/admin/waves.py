"""Gather which topics and groups must move together: from groups, their offsets, and transactions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from kgroups.errors import KgroupsError, Reason
from kgroups.model.counts import count, some
from kgroups.model.group_log import ReadBudget
from kgroups.model.groups import Group
from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Scope
from kgroups.model.permissions import TOPIC, Acl, omitted_commits
from kgroups.model.placement import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from kgroups.model.views.wave_rows import Waves
from kgroups.model.waves import (
    Graph,
    Item,
    Kind,
    add_group,
    add_producer,
    has_no_topics,
    infer_groups,
    infer_internal_topics,
    is_of_cluster,
    is_of_mirror,
    selected_waves,
    unknown_topics,
)
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import Metadata, TopicLeaders
from kgroups.protocol.error_codes import NOT_AUTHORIZED, Code

from .client import Client, WireOnly, wire_of
from .query.describe import describe_commits
from .query.group_offsets import hidden_topics_of
from .query.pattern import Glob
from .query.select_groups import Selection, note_missing_groups
from .routing.partition_leaders import read_topics
from .topic_failures import topic_failures
from .transaction_log import Transactions, read_transactions

_TOO_SMALL = "waves may be too small"
_IGNORE = "to leave producers out that do not matter, use --ignore-producer"


class Ignored(NamedTuple):
    """Globs of the topics, groups, and transactional IDs that join nothing."""

    ignored_topics: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()
    ignored_producers: tuple[str, ...] = ()


async def gather_waves(
    admin: Client, selection: Selection, ignored: Ignored, transactions: ReadBudget | None
) -> Outcome[Waves]:
    """Return the waves with the selected groups and topics. What may make waves too small is a failure.

    :param transactions: limits of reading ``__transaction_state``; ``None``: leave transactions out.
    """
    cluster = wire_of(admin, WireOnly.WAVES)
    described = await describe_commits(cluster, Selection(everything=True))
    described = await note_missing_groups(cluster, Selection(everything=True), described)
    graph, notes = Graph(), {}
    for group, commits in described.items:
        add_group(graph, group, commits)
        if has_no_topics(group):
            notes[Item(Kind.GROUP, group.group)] = (
                f"brokers report no topics of the protocol type {group.protocol_type}"
            )
    groups = [group for group, _ in described.items]
    outcome: Outcome[Waves] = Outcome((), described.failures, described.notices, described.hidden_by)
    outcome = outcome.with_failures([*_unknown(groups), *await _hidden(cluster, outcome)])
    metadata, failures = await _all_topics(cluster)
    outcome = outcome.with_failures(failures)
    if transactions is None:
        outcome = outcome.with_failures((), ("transactions are left out: producers join no topics and groups",))
    else:
        failures, notices = await _add_transactions(cluster, graph, transactions, ignored.ignored_producers, metadata)
        outcome = outcome.with_failures(failures, notices)
    infer_internal_topics(graph, metadata)
    outcome = outcome.with_failures((), await _leave_out(cluster, graph, metadata, ignored))
    waves = graph.waves()
    chosen, selected = await _chosen_groups(admin, selection)
    outcome = outcome.with_failures(await topic_failures(admin, selection, outcome))
    outcome = outcome.with_failures(selected.failures)
    found = Waves(tuple(selected_waves(waves, chosen, selection.topics)), graph, notes)
    if not (found.waves or outcome.failures):
        reason = "no wave has the selected topics and groups" if selection.topics and chosen != set() else NO_MATCH
        outcome = outcome.with_failures((), [reason])
    return outcome.with_items([found])


def _unknown(groups: Iterable[Group]) -> list[Failure]:
    return [
        Failure(
            Scope.GROUP,
            group.group,
            f"its topics are not all known: {reason}; {_TOO_SMALL}",
            reason=Reason.NOT_APPLICABLE,
        )
        for group in groups
        if (reason := unknown_topics(group))
    ]


async def _hidden(cluster: Cluster, outcome: Outcome[Waves]) -> list[Failure]:
    """Return what ACLs may hide, as failures: waves without it may be too small."""
    texts = [(f"groups may be missing: needs {acl}; {_TOO_SMALL}", acl) for acl in dict.fromkeys(outcome.hidden_by)]
    failures = [Failure(Scope.CLUSTER, "", text, acl=acl, reason=Reason.NOT_AUTHORIZED) for text, acl in texts]
    hidden = await hidden_topics_of(cluster, frozenset())
    if isinstance(hidden, frozenset):
        hidden = frozenset(topic for topic in hidden if not is_of_cluster(topic))
    if why := omitted_commits(hidden):
        failures.append(Failure(Scope.CLUSTER, "", f"{why}; {_TOO_SMALL}", reason=Reason.NOT_AUTHORIZED))
    return failures


async def _all_topics(cluster: Cluster) -> tuple[dict[str, TopicLeaders], list[Failure]]:
    """Return the topics that the principal can describe."""
    try:
        answer = await cluster.call_any(Metadata(None))
    except KgroupsError as error:
        return {}, [Failure.of(error, Scope.CLUSTER, "", api="Metadata")]
    return {each.topic: each for each in answer.topics if not each.error}, []


async def _add_transactions(
    cluster: Cluster, graph: Graph, limits: ReadBudget, ignored: Iterable[str], topics: Mapping[str, TopicLeaders]
) -> tuple[list[Failure], list[str]]:
    """Add the producers to the graph; return what is unknown about them, and notes about those that are ignored."""
    places, failed = await read_topics(cluster, (TRANSACTIONS_TOPIC, OFFSETS_TOPIC))
    place, offsets = places.get(TRANSACTIONS_TOPIC), places.get(OFFSETS_TOPIC)
    if place is None:
        return [_unread(str(failed.get(TRANSACTIONS_TOPIC, "it is missing in the response")))], []
    if place.error and place.error.code == Code.unknown_topic_or_partition:
        return [], []  # no transactional producer was ever initialized
    if place.error:
        denied = place.error.code in NOT_AUTHORIZED
        return [_unread(place.error.message, Acl("READ", TOPIC, TRANSACTIONS_TOPIC) if denied else None)], []
    of_offsets = len(offsets.leaders) if offsets else 0
    found = await read_transactions(cluster, len(place.leaders), of_offsets, limits, topics)
    notes = [_ignored(Kind.PRODUCER, glob, found.remove(glob.fullmatch)) for glob in map(Glob, ignored)]
    for producer in found.producers.values():
        add_producer(graph, producer)
    denied = TRANSACTIONS_TOPIC in found.denied
    acl = Acl("READ", TOPIC, TRANSACTIONS_TOPIC) if denied else None
    failures = [_unread(reason, acl) for reason in found.unread]
    return [*failures, *_unknown_producers(graph, found, of_offsets)], notes


def _unread(reason: str, acl: Acl | None = None) -> Failure:
    hint = (
        "to leave transactions out, use --no-transactions"
        if acl
        else ("to read more, use --log-mib and --log-time; to leave transactions out, --no-transactions")
    )
    text = f"transactions are not all known: {reason}; {_TOO_SMALL}"
    why = Reason.NOT_AUTHORIZED if acl else Reason.NOT_APPLICABLE
    return Failure(Scope.TOPIC, TRANSACTIONS_TOPIC, text, acl=acl, reason=why, hint=hint)


def _unknown_producers(graph: Graph, found: Transactions, partitions: int) -> list[Failure]:
    """Return the producers whose topics, or the groups of whose offsets, are unknown; infer groups from names."""
    failures = []
    unknown = found.without_transactions()
    if unknown:
        failures.append(
            Failure(
                Scope.TOPIC,
                TRANSACTIONS_TOPIC,
                "it no longer contains, and no leader knows, what "
                f"{count(len(unknown), 'transactional producer')} wrote: {some(unknown)}; {_TOO_SMALL}",
                reason=Reason.NOT_APPLICABLE,
                hint=_IGNORE,
            )
        )
    nameless = [
        name
        for name, missing in sorted(found.without_group.items())
        if infer_groups(graph, found.producers[name], missing, partitions)
    ]
    if nameless:
        denied = OFFSETS_TOPIC in found.denied
        failures.append(
            Failure(
                Scope.TOPIC,
                OFFSETS_TOPIC,
                f"the groups whose offsets {count(len(nameless), 'transactional producer')} committed were not found: "
                f"{some(nameless)}; {_TOO_SMALL}",
                acl=Acl("READ", TOPIC, OFFSETS_TOPIC) if denied else None,
                reason=Reason.NOT_AUTHORIZED if denied else Reason.NOT_APPLICABLE,
                hint=None if denied else _IGNORE,
            )
        )
    return failures


async def _leave_out(cluster: Cluster, graph: Graph, known: Collection[str], ignored: Ignored) -> list[str]:
    """Remove what joins nothing: topics of the cluster, topics that do not exist, and what is ignored. Return notes."""
    own = graph.without(lambda item: item.kind is Kind.TOPIC and is_of_cluster(item.name))
    unlisted = sorted(item.name for item in graph.items if item.kind is Kind.TOPIC and item.name not in known)
    named, _ = await read_topics(cluster, unlisted)
    deleted = {
        name for name, each in named.items() if each.error and each.error.code == Code.unknown_topic_or_partition
    }
    graph.without(lambda item: item.kind is Kind.TOPIC and item.name in deleted)
    notes = []
    if mirrors := sorted(item.name for item in own if is_of_mirror(item.name)):
        notes.append(f"topics that are named as MirrorMaker 2's own are left out: {some(mirrors)}")
    if deleted:
        notes.append(f"topics that do not exist are left out: {some(sorted(deleted))}")
    for kind, globs in ((Kind.TOPIC, ignored.ignored_topics), (Kind.GROUP, ignored.ignored_groups)):
        for glob in map(Glob, globs):
            gone = graph.without(partial(_matches, kind, glob))
            notes.append(_ignored(kind, glob, {item.name for item in gone}))
    graph.remove_unlinked()
    return notes


def _ignored(kind: Kind, glob: Glob, gone: Collection[str]) -> str:
    option = f"--ignore-{kind.value} {glob.text!r}"
    return f"{option}: {count(len(gone), kind.value)}: {some(sorted(gone))}" if gone else f"{option} matches nothing"


def _matches(kind: Kind, glob: Glob, item: Item) -> bool:
    return item.kind is kind and glob.fullmatch(item.name)


async def _chosen_groups(admin: Client, selection: Selection) -> tuple[Collection[str] | None, Outcome[Group]]:
    """Return the names of the selected groups, ``None`` for all, and what was found about them."""
    if selection.everything and not selection.restricts:
        return None, Outcome()
    found = await admin.describe(selection._replace(topics=frozenset()))
    return {group.group for group in found.items}, found
