"""The known world, as data: topics, and groups of every kind in a state that stays. ``seed`` makes it, the helpers keep
it, tests import it to know what to expect.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, GroupId, GroupState, GroupType
from kgroups.sandbox.versions import KafkaVersion

Offsets = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> offset."""

RECORDS: Final[Offsets] = {
    "orders": {partition: 100 + 10 * partition for partition in range(6)},
    "payments": {0: 60, 1: 70, 2: 80},
    "clicks": {0: 100},
    "billing": {0: 20, 1: 20},
    "ledger": {0: 10},
}
"""The topics, and how many records are written to each partition: the ends of the logs, if not said otherwise below."""

LOG_STARTS: Final[Offsets] = {"clicks": {0: 40}}
"""Records before these are deleted again, as retention would."""

OPEN_TRANSACTION: Final[Offsets] = {"ledger": {0: 5}}
"""So many more are written in a transaction that stays open: whoever reads committed records ends before them."""

DELETED_TOPIC: Final = "billing"
"""Deleted after groups have used it. Brokers drop the commits on it."""


class Player(StrEnum):
    """Who plays the members of a group."""

    LIBRDKAFKA = "librdkafka"
    JAVA = "java"
    """The version's own console consumer: it commits all that it has read, the end of the log."""
    WIRE = "wire"
    """We ourselves, over the wire: one member, alone in its group, that reads nothing."""
    NOBODY = "nobody"


class KnownGroup(NamedTuple):
    """One group as it is to be. Its members share out all partitions of ``topics``."""

    name: GroupId
    about: str
    """What it shows, for a newcomer."""
    committed: Offsets
    player: Player = Player.NOBODY
    members: int = 0
    topics: tuple[str, ...] = ()
    protocol: str = ""
    """The assignor in force, as brokers tell it."""
    static: bool = False
    protocol_type: str = CONSUMER_PROTOCOL_TYPE
    type: str = GroupType.CLASSIC

    @property
    def state(self) -> str:
        return GroupState.STABLE if self.members else GroupState.EMPTY

    @property
    def commits(self) -> dict[str, dict[int, int]]:
        """What is left of ``committed`` when the topic is gone."""
        return {topic: dict(offsets) for topic, offsets in self.committed.items() if topic != DELETED_TOPIC}

    @property
    def assigned(self) -> set[tuple[str, int]]:
        """What its members hold together; also of the deleted topic, for nobody tells them."""
        if self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return set()
        return {(topic, partition) for topic in self.topics for partition in RECORDS[topic]}

    @property
    def instances(self) -> list[str]:
        """The group instance ids of static members."""
        return [f"{self.name}-{number}" for number in range(self.members)] if self.static else []


STRANGE_NAME: Final = "Zürich → Genève\t\x1b[31m№ 7"
"""Brokers take any text as the name of a group: blanks, tabs, a terminal's control sequences."""

_ORDERS_READ: Final[Offsets] = {"orders": RECORDS["orders"]}


def _commits_only(name: GroupId, about: str, committed: Offsets) -> KnownGroup:
    return KnownGroup(name, about, committed, protocol_type="")


_GROUPS: Final = (
    KnownGroup(
        "orders-range",
        "3 members, range assignor; partition 5 is behind",
        {"orders": {**RECORDS["orders"], 5: 100}},
        Player.LIBRDKAFKA,
        members=3,
        topics=("orders",),
        protocol="range",
    ),
    KnownGroup(
        "orders-roundrobin",
        "2 members on 2 topics, roundrobin assignor",
        {**_ORDERS_READ, "payments": RECORDS["payments"]},
        Player.LIBRDKAFKA,
        members=2,
        topics=("orders", "payments"),
        protocol="roundrobin",
    ),
    KnownGroup(
        "orders-sticky",
        "Java's console consumer, sticky assignor",
        _ORDERS_READ,
        Player.JAVA,
        members=1,
        topics=("orders",),
        protocol="sticky",
    ),
    KnownGroup(
        "orders-cooperative",
        "2 members, cooperative-sticky assignor",
        _ORDERS_READ,
        Player.LIBRDKAFKA,
        members=2,
        topics=("orders",),
        protocol="cooperative-sticky",
    ),
    KnownGroup(
        "orders-static",
        "2 static members: they have group instance ids",
        _ORDERS_READ,
        Player.LIBRDKAFKA,
        members=2,
        topics=("orders",),
        protocol="range",
        static=True,
    ),
    KnownGroup(
        "orders-kip848",
        "2 members, new protocol (KIP-848): brokers assign",
        _ORDERS_READ,
        Player.LIBRDKAFKA,
        members=2,
        topics=("orders",),
        protocol="uniform",
        type=GroupType.CONSUMER,
    ),
    _commits_only("payments-empty", "commits, but no members at the moment", {"payments": {0: 60, 1: 60, 2: 60}}),
    KnownGroup(
        "payments-lagging",
        "50 records behind on every partition",
        {"payments": {0: 10, 1: 20, 2: 30}},
        Player.LIBRDKAFKA,
        members=1,
        topics=("payments",),
        protocol="range",
    ),
    KnownGroup(
        "payments-uncommitted",
        "holds 3 partitions, has committed on 1",
        {"payments": {0: 30}},
        Player.LIBRDKAFKA,
        members=1,
        topics=("payments",),
        protocol="range",
    ),
    KnownGroup(
        "billing-deleted-topic",
        f"has partitions of the deleted topic {DELETED_TOPIC}",
        {"billing": {0: 5, 1: 5}, "payments": {0: 60, 1: 60, 2: 60}},
        Player.WIRE,
        members=1,
        topics=("billing", "payments"),
        protocol="range",
    ),
    _commits_only("ahead", "committed beyond the end of the log: lag -50", {"clicks": {0: 150}}),
    _commits_only("data-lost", "30 records that it has not read are deleted", {"clicks": {0: 10}}),
    KnownGroup(
        "connect-like",
        "protocol type connect, with metadata of its own",
        {},
        Player.WIRE,
        members=1,
        protocol="opaque",
        protocol_type="connect",
    ),
    _commits_only(STRANGE_NAME, "a name with blanks, a tab, an escape sequence", {"clicks": {0: 90}}),
    KnownGroup(
        "ledger-reader",
        "at the end, but for an open transaction",
        {"ledger": RECORDS["ledger"]},
        Player.LIBRDKAFKA,
        members=1,
        topics=("ledger",),
        protocol="range",
    ),
)

OPAQUE_METADATA: Final = b"\xca\xfe what a worker says of itself"
OPAQUE_ASSIGNMENT: Final = b"\xca\xfe what a leader tells it"


def known_groups(version: KafkaVersion) -> tuple[KnownGroup, ...]:
    """The groups that a Kafka of that version can have."""
    lacking = lacking_groups(version)
    # librdkafka speaks the new protocol as it was finished in Kafka 4.0, not its preview.
    preview = GroupType.CONSUMER.lower() in version.group_types and not version.final_consumer_protocol
    return tuple(
        group._replace(player=Player.JAVA) if preview and group.type == GroupType.CONSUMER else group
        for group in _GROUPS
        if group.name not in lacking
    )


def lacking_groups(version: KafkaVersion) -> dict[GroupId, str]:
    """The groups of the world that it cannot have, with the reason."""
    lacking = {}
    for group in _GROUPS:
        if group.type.lower() not in version.group_types:
            lacking[group.name] = f"Kafka {version.name} has no groups of type {group.type}"
        elif group.static and not version.static_members:
            lacking[group.name] = f"Kafka {version.name} has no static members (KIP-345, Kafka 2.3)"
    return lacking
