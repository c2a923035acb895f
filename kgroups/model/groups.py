"""Groups, their kinds, states and members.

The broker's words are kept: a state or type that this version does not know is carried as the broker wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from .assignment import Assignment, Subscription
from .cluster import Node

if TYPE_CHECKING:
    from .streams import StreamsMember, Topology

GroupId = str
"""A group's name, exactly as clients gave it; untrusted text."""


class GroupType:
    """The kinds of group, as ListGroups v5 (KIP-848, Kafka 3.8) spells them."""

    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    SHARE = "Share"
    STREAMS = "Streams"

    ALL = (CLASSIC, CONSUMER, SHARE, STREAMS)
    OF_CONSUMERS = (CLASSIC, CONSUMER)

    COMMON = (CLASSIC, CONSUMER)
    """The types that a named group is taken for at first: both are asked for at once."""

    RARE = (SHARE, STREAMS)
    """Those that are asked for when it is none of the common ones."""

    WITHOUT_COMMITS = (SHARE,)
    """The types whose coordinators keep start offsets instead of commits."""


class GroupState:
    """The states of groups of every type, as brokers spell them."""

    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    EMPTY = "Empty"
    DEAD = "Dead"
    NOT_READY = "NotReady"

    ALL = (STABLE, EMPTY, PREPARING_REBALANCE, COMPLETING_REBALANCE, ASSIGNING, RECONCILING, NOT_READY, DEAD)
    OF_CONSUMERS = tuple(state for state in ALL if state != "NotReady")
    OF_SHARERS = (EMPTY, DEAD, STABLE)
    OF_STREAMS = (EMPTY, NOT_READY, STABLE, ASSIGNING, RECONCILING, DEAD)
    REBALANCING = frozenset({PREPARING_REBALANCE, COMPLETING_REBALANCE, ASSIGNING, RECONCILING})


CONSUMER_PROTOCOL_TYPE = "consumer"
"""The protocol type of groups whose members are consumers; Connect workers say ``connect``, others their own."""

SHARE_PROTOCOL_TYPE = "share"
"""The same of share groups."""

STREAMS_PROTOCOL_TYPE = "streams"
"""The same of streams groups."""

CONSUMER_GROUPS = (CONSUMER_PROTOCOL_TYPE, "")
"""The protocol types of what the Java tool calls consumer groups: also those that nobody joins, only commits to."""


def canonical_word(word: str, known: Iterable[str]) -> str | None:
    """The spelling in ``known`` of a word given in any case; underscores and dashes do not count."""
    folded = word.replace("_", "").replace("-", "").casefold()
    return next((name for name in known if name.casefold() == folded), None)


class ListedGroup(NamedTuple):
    """One line of the list. ``state`` and ``type`` are ``None`` where the broker cannot tell them."""

    group_id: GroupId
    protocol_type: str
    coordinator: Node
    state: str | None = None
    type: str | None = None

    @property
    def group(self) -> GroupId:
        """The group ID, by the name that rows and JSON use."""
        return self.group_id


class Member(NamedTuple):
    """One member of a group.

    ``subscription`` and ``owned`` come from what the client sent (classic groups) or from the broker (KIP-848);
    ``member_epoch``, ``target`` and ``upgraded`` exist in KIP-848 groups only. ``upgraded`` is ``False`` for a
    member that still speaks the classic protocol inside such a group, ``None`` where the broker does not say.
    ``metadata_bytes`` and ``assignment_bytes`` are the sizes of what clients put into a classic group, as it came; not
    known of one that is rebalancing.
    """

    member_id: str
    client_id: str
    host: str
    assignment: Assignment
    instance_id: str | None = None
    rack_id: str | None = None
    subscription: Subscription = Subscription()
    member_epoch: int | None = None
    target: Assignment | None = None
    upgraded: bool | None = None
    streams: StreamsMember | None = None
    """What only members of streams groups have."""
    metadata_bytes: int | None = None
    assignment_bytes: int | None = None


class Group(NamedTuple):
    """One described group.

    ``protocol`` is the assignor in force (``""`` when none was chosen). ``members`` is ``None`` where this version
    cannot describe members of the group's type.
    """

    group_id: GroupId
    type: str | None
    state: str
    protocol_type: str
    protocol: str
    coordinator: Node
    members: tuple[Member, ...] | None = ()
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None
    topology: Topology | None = None
    """Of streams groups."""

    @property
    def group(self) -> GroupId:
        """The group ID, by the name that rows and JSON use."""
        return self.group_id
