"""The known topics and groups, as data: groups in every stable state.

``seed`` creates them, helper processes keep them, and tests import them to know what to expect.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, GroupId, GroupState, GroupType

from .versions import KafkaVersion

Offsets = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> offset."""

RECORDS: Final[Offsets] = {
    "orders": {partition: 100 + 10 * partition for partition in range(6)},
    "payments": {0: 60, 1: 70, 2: 80},
    "clicks": {0: 100},
    "billing": {0: 20, 1: 20},
    "ledger": {0: 10},
}
"""The topics, and the number of records in each partition, which is the log end offset with the exceptions below."""

LOG_STARTS: Final[Offsets] = {"clicks": {0: 40}}
"""Records before these offsets are deleted, as by retention."""

OPEN_TRANSACTION: Final[Offsets] = {"ledger": {0: 5}}
"""Further records in a transaction that stays open: consumers with read_committed end before them."""

DELETED_TOPIC: Final = "billing"
"""Deleted after groups have used it. Brokers delete the commits on it."""


class Player(StrEnum):
    """The client of a group's members."""

    LIBRDKAFKA = "librdkafka"
    JAVA = "java"
    """The version's console consumer, which commits all that it has read, the log end offset."""
    WIRE = "wire"
    """kgroups' own member, alone in its group, which reads nothing."""
    NOBODY = "nobody"


class KnownGroup(NamedTuple):
    """The expected state of one group. All partitions of ``topics`` are assigned to its members."""

    name: GroupId
    about: str
    """A description for newcomers."""
    committed: Offsets
    player: Player = Player.NOBODY
    members: int = 0
    topics: tuple[str, ...] = ()
    protocol: str = ""
    """The selected assignor, as reported by brokers."""
    static: bool = False
    protocol_type: str = CONSUMER_PROTOCOL_TYPE
    type: str = GroupType.CLASSIC

    @property
    def state(self) -> str:
        return GroupState.STABLE if self.members else GroupState.EMPTY

    @property
    def commits(self) -> dict[str, dict[int, int]]:
        """``committed`` without the deleted topic."""
        return {topic: dict(offsets) for topic, offsets in self.committed.items() if topic != DELETED_TOPIC}

    @property
    def assigned(self) -> set[tuple[str, int]]:
        """The partitions that are assigned to its members, including the deleted topic's, which they still own."""
        if self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return set()
        return {(topic, partition) for topic in self.topics for partition in RECORDS[topic]}

    @property
    def instances(self) -> list[str]:
        """The group instance IDs of static members."""
        return [f"{self.name}-{number}" for number in range(self.members)] if self.static else []


STRANGE_NAME: Final = "Zürich → Genève\t\x1b[31m№ 7"
"""Brokers accept any text as a group ID: spaces, tabs, terminal control sequences."""

_ORDERS_READ: Final[Offsets] = {"orders": RECORDS["orders"]}


def _commits_only(name: GroupId, about: str, committed: Offsets) -> KnownGroup:
    return KnownGroup(name, about, committed, protocol_type="")


_GROUPS: Final = (
    KnownGroup(
        "orders-range",
        "3 members, range assignor; partition 5 lags",
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
        "2 static members, with group instance IDs",
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
        "lags by 50 records on every partition",
        {"payments": {0: 10, 1: 20, 2: 30}},
        Player.LIBRDKAFKA,
        members=1,
        topics=("payments",),
        protocol="range",
    ),
    KnownGroup(
        "payments-uncommitted",
        "owns 3 partitions, has committed on 1",
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
    _commits_only("data-lost", "30 records were deleted before they were read", {"clicks": {0: 10}}),
    KnownGroup(
        "connect-like",
        "protocol type connect, with its own metadata",
        {},
        Player.WIRE,
        members=1,
        protocol="opaque",
        protocol_type="connect",
    ),
    _commits_only(STRANGE_NAME, "a name with spaces, a tab, an escape sequence", {"clicks": {0: 90}}),
    KnownGroup(
        "ledger-reader",
        "at the end, except for an open transaction",
        {"ledger": RECORDS["ledger"]},
        Player.LIBRDKAFKA,
        members=1,
        topics=("ledger",),
        protocol="range",
    ),
)

OPAQUE_METADATA: Final = b"\xca\xfe a worker's metadata"
OPAQUE_ASSIGNMENT: Final = b"\xca\xfe a leader's assignment"


def known_groups(version: KafkaVersion) -> tuple[KnownGroup, ...]:
    """Return the groups that this Kafka version supports."""
    lacking = lacking_groups(version)
    # librdkafka supports the final protocol of Kafka 4.0, not its preview.
    preview = GroupType.CONSUMER.lower() in version.group_types and not version.final_consumer_protocol
    return tuple(
        group._replace(player=Player.JAVA) if preview and group.type == GroupType.CONSUMER else group
        for group in _GROUPS
        if group.name not in lacking
    )


def lacking_groups(version: KafkaVersion) -> dict[GroupId, str]:
    """Return the known groups that this Kafka version does not support, with the reason."""
    lacking = {}
    for group in _GROUPS:
        if group.type.lower() not in version.group_types:
            lacking[group.name] = f"Kafka {version.name} does not support groups of type {group.type}"
        elif group.static and not version.static_members:
            lacking[group.name] = f"Kafka {version.name} does not support static members (KIP-345, Kafka 2.3)"
    return lacking
