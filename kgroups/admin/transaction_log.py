"""Read what transactional producers write, in ``__transaction_state`` and ``__consumer_offsets``.

The record of a transaction names its partitions until it is complete. Compaction keeps the newest record of each
transactional ID, which names none. The leaders of partitions still know the producers that wrote to them within
producer.id.expiration.ms, by default a day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgroups.errors import KgroupsError, UndecodableRecord
from kgroups.model.cluster import Node
from kgroups.model.counts import count
from kgroups.model.group_log import ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.placement import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from kgroups.model.waves import Producer
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.describe_producers import DescribeProducers
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.offsets_topic import decode as decode_offsets
from kgroups.protocol.record_entries import Entry
from kgroups.protocol.record_schemas import group_of
from kgroups.protocol.transaction_log import COMPLETE, EMPTY, ONGOING, PREPARED, decode, status_of

from .log_search.backward_reader import NotAuthorized, Records, Search
from .log_search.search_logs import search_logs
from .routing.partition_leaders import TopicPartition, by_topic

_AT_ONCE = 2_000
"""Partitions whose producers are requested at once."""


@dataclass
class _Seen:
    """What the records of a transactional ID contain, as far back as they were read."""

    ids: set[int] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    offsets: set[int] = field(default_factory=set)
    complete: bool = False
    """Whether no older record exists: the oldest one is that of the first initialization."""
    deleted: bool = False
    """Whether the oldest record read is a tombstone: those before it are of an expired ID."""

    def add(self, value: Mapping[str, Any]) -> None:
        self.ids.update(value[name] for name in ("ProducerId", "PreviousProducerId") if value.get(name, -1) >= 0)
        self.complete = value["TransactionStatus"] == EMPTY and value["ProducerEpoch"] == 0
        for written in value["TransactionPartitions"] or ():
            if written["Topic"] == OFFSETS_TOPIC:
                self.offsets.update(written["PartitionIds"])
            else:
                self.topics.add(written["Topic"])


class _Transactions(Search):
    """All transactions in a partition of ``__transaction_state``."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, _Seen] = {}

    def identity(self, key: bytes) -> bytes | None:
        return key

    def missing(self) -> int:
        return 1  # how far a transactional ID goes back is unknown: read up to the start

    def keep(self, records: Records) -> None:
        for key, entries in records.items():
            newer: int | None = None
            for entry in reversed(entries):
                status = None if entry.value is None else status_of(entry.value)
                # Nothing new, and most of the records: the record of the end of a transaction names all its partitions.
                if (status == ONGOING and newer in PREPARED) or (status in COMPLETE and newer not in (None, EMPTY)):
                    continue
                newer = status
                self._add(key, entry)

    def _add(self, key: bytes, entry: Entry) -> None:
        try:
            record = decode(key, entry.value)
        except UndecodableRecord:
            self.unreadable += 1
            return
        seen = self.seen.setdefault(record.key["TransactionalId"], _Seen())
        if record.value is None:
            seen.deleted = seen.complete = True
        elif not seen.deleted:
            seen.add(record.value)


class _Commits(Search):
    """The groups whose offsets some producers committed in transactions, in a partition of ``__consumer_offsets``."""

    def __init__(self, producers: Iterable[Producer]) -> None:
        super().__init__()
        self._names = {number: each.name for each in producers for number in each.ids}
        self.groups: dict[str, set[GroupId]] = {each.name: set() for each in producers}

    def identity(self, key: bytes) -> bytes | None:
        return key if key[:2] in (b"\0\0", b"\0\1") else None

    def missing(self) -> int:
        return sum(not groups for groups in self.groups.values())

    def keep(self, records: Records) -> None:
        for key, entries in records.items():
            for name in {self._names[each.transaction] for each in entries if each.transaction in self._names}:
                try:
                    self.groups[name].add(group_of(decode_offsets(key, None).key))
                except UndecodableRecord:
                    self.unreadable += 1


@dataclass
class Transactions:
    """The producers by transactional ID, and why some are unknown.

    ``unread``: why ``__transaction_state`` was not read, or not to its start; ``denied``: because an ACL is missing.
    ``without_group``: producer -> the partitions in which it committed offsets of groups that are unknown.
    """

    producers: dict[str, Producer] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)
    """The topics that the principal may not read."""
    without_group: dict[str, set[int]] = field(default_factory=dict)

    def without_transactions(self) -> list[str]:
        """Return the producers that may have written something, and of which nothing is known, sorted."""
        return sorted(
            name for name, each in self.producers.items() if not (each.topics or each.offsets or each.complete)
        )

    def remove(self, ignored: Callable[[str], bool]) -> list[str]:
        """Remove producers by their transactional IDs; return these."""
        gone = list(filter(ignored, self.producers))
        for name in gone:
            del self.producers[name]
            self.without_group.pop(name, None)
        return gone


async def read_transactions(
    cluster: Cluster, partitions: int, offsets_partitions: int, limits: ReadBudget, topics: Mapping[str, TopicLeaders]
) -> Transactions:
    """Return the producers in ``__transaction_state``, with the groups whose offsets they commit.

    :param partitions: the number of its partitions; ``offsets_partitions``: that of ``__consumer_offsets``.
    :param topics: all topics, whose leaders are asked for the producers of which the log has no transaction.
    """
    found = Transactions()
    searches = {number: _Transactions() for number in range(partitions)}
    searched = await search_logs(cluster, TRANSACTIONS_TOPIC, searches, limits)
    if any(isinstance(reason, NotAuthorized) for reason in searched.reasons.values()):
        found.denied.add(TRANSACTIONS_TOPIC)
        found.unread = [NotAuthorized.to_read(TRANSACTIONS_TOPIC)]
        return found
    if unread := sorted(searched.reasons):
        stopped = searched.stopped.get(unread[0])
        reason = f"the search stopped at {stopped}" if stopped else searched.reasons[unread[0]]
        found.unread.append(f"{len(unread):,} of {count(partitions, 'partition')} not read to the start: {reason}")
    if broken := sum(search.unreadable for search in searches.values()):
        found.unread.append(f"{count(broken, 'record')} could not be decoded")
    for number, search in searches.items():
        for name, seen in search.seen.items():
            if seen.ids:
                complete = seen.complete and number not in searched.reasons
                found.producers[name] = Producer(
                    name, frozenset(seen.ids), frozenset(seen.topics), frozenset(seen.offsets), complete
                )
    await _add_from_leaders(cluster, found, topics)
    await _add_groups(cluster, found, offsets_partitions, limits)
    return found


async def _add_from_leaders(cluster: Cluster, found: Transactions, topics: Mapping[str, TopicLeaders]) -> None:
    """Add the topics of producers without a transaction in the log, as far as the leaders of partitions know them."""
    names = {number: name for name in found.without_transactions() for number in found.producers[name].ids}
    if not names:
        return
    for (topic, partition), numbers in (await _producers_of(cluster, topics)).items():
        for name in {names[number] for number in numbers if number in names}:
            producer = found.producers[name]
            if topic == OFFSETS_TOPIC:
                found.producers[name] = producer._replace(offsets=producer.offsets | {partition})
            else:
                found.producers[name] = producer._replace(topics=producer.topics | {topic})


async def _producers_of(cluster: Cluster, topics: Mapping[str, TopicLeaders]) -> dict[TopicPartition, set[int]]:
    """Return the IDs of the producers of partitions. Errors are left out: the producers stay unknown."""
    by_leader: dict[Node, list[TopicPartition]] = {}
    for topic, entry in topics.items():
        for partition, leader in entry.leaders.items():
            if isinstance(leader, int) and leader in cluster.nodes:
                by_leader.setdefault(cluster.nodes[leader], []).append((topic, partition))
    calls = [
        (node, cluster.call(node, DescribeProducers(by_topic(pairs[at : at + _AT_ONCE]))))
        for node, pairs in by_leader.items()
        for at in range(0, len(pairs), _AT_ONCE)
    ]
    found: dict[TopicPartition, set[int]] = {}
    for _, response in await fan_out(calls):
        if isinstance(response, KgroupsError):
            continue  # such as that of a broker before Kafka 2.8
        for pair, producers in response.items():
            if not isinstance(producers, KafkaError):
                found[pair] = {each.producer_id for each in producers}
    return found


async def _add_groups(cluster: Cluster, found: Transactions, partitions: int, limits: ReadBudget) -> None:
    """Add the groups whose offsets the producers committed, from the producer IDs in ``__consumer_offsets``."""
    by_partition: dict[int, list[Producer]] = {}
    for producer in found.producers.values():
        for number in producer.offsets:
            if number < partitions:
                by_partition.setdefault(number, []).append(producer)
    searches = {number: _Commits(producers) for number, producers in by_partition.items()}
    if not searches:
        return
    searched = await search_logs(cluster, OFFSETS_TOPIC, searches, limits)
    if any(isinstance(reason, NotAuthorized) for reason in searched.reasons.values()):
        found.denied.add(OFFSETS_TOPIC)
    groups: dict[str, set[GroupId]] = {}
    for number, search in searches.items():
        for name, of_producer in search.groups.items():
            if of_producer:
                groups.setdefault(name, set()).update(of_producer)
            else:
                found.without_group.setdefault(name, set()).add(number)
    for name, of_producer in groups.items():
        found.producers[name] = found.producers[name]._replace(groups=frozenset(of_producer))
