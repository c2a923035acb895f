"""Groups, their types, states, and members.

States and types are kept as the broker reports them, including values that this version does not know.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kgroups.deprecation import warn_once
from kgroups.errors import UsageError

from .assignment import Assignment, Subscription
from .cluster import Node

if TYPE_CHECKING:
    from .streams import StreamsMember, Topology


GroupId = str
"""A group ID, exactly as clients chose it; untrusted text."""


class GroupType:
    """The group types, as ListGroups v5 (KIP-848, Kafka 3.8) spells them."""

    CLASSIC = "Classic"
    CONSUMER = "Consumer"
    SHARE = "Share"
    STREAMS = "Streams"
    SPARK = "Spark"
    """A Spark query, whose positions are in its checkpoint: Kafka does not know this group."""

    ALL = (CLASSIC, CONSUMER, SHARE, STREAMS)
    """The types that Kafka knows."""
    SHOWN = (*ALL, SPARK)
    OF_CONSUMERS = (CLASSIC, CONSUMER)

    COMMON = (CLASSIC, CONSUMER)
    """The types to try first for a named group whose type is unknown: both are requested at once."""

    RARE = (SHARE, STREAMS)
    """The types to try if the group has none of the common ones."""

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
    JOINING = frozenset({PREPARING_REBALANCE, COMPLETING_REBALANCE})
    """Those in which a classic group has no assignment; from Kafka 4.0 on, brokers report the one before."""
    WITHOUT_MEMBERS = (EMPTY, DEAD)


ANY_REBALANCING = "rebalancing"
"""What users write for all states of a rebalance."""


def states_of(words: Iterable[str]) -> tuple[str, ...]:
    """Return the states of which a filter names some, in the spelling of brokers; ``rebalancing`` is several."""
    several = tuple(state for state in GroupState.ALL if state in GroupState.REBALANCING)
    found = (several if word == ANY_REBALANCING else (word,) for word in words)
    return tuple(dict.fromkeys(state for states in found for state in states))


CONSUMER_PROTOCOL_TYPE = "consumer"
"""The protocol type of groups of consumers; Kafka Connect uses ``connect``, other clients their own."""

SHARE_PROTOCOL_TYPE = "share"
"""The protocol type of share groups."""

STREAMS_PROTOCOL_TYPE = "streams"
"""The protocol type of streams groups."""

CONSUMER_GROUPS = (CONSUMER_PROTOCOL_TYPE, "")
"""Protocol types of consumer groups as in the Java tool; ``""``: groups with commits that never had members."""


def is_glob(text: str) -> bool:
    """Return whether a name contains a wildcard."""
    return any(char in text for char in "*?[")


def canonical_word(word: str, known: Iterable[str]) -> str | None:
    """Return the spelling in ``known`` of a word; case, underscores, and dashes are ignored.

    If no known word matches, return ``None``.
    """
    folded = word.replace("_", "").replace("-", "").casefold()
    return next((name for name in known if name.casefold() == folded), None)


class ListedGroup(NamedTuple):
    """One group of ListGroups. ``state`` and ``type`` are ``None`` if the broker is too old to report them."""

    group: GroupId
    protocol_type: str
    coordinator: Node
    state: str | None = None
    type: str | None = None

    @property
    def group_id(self) -> GroupId:
        """The group ID; deprecated: use ``group``."""
        warn_once("kgroups.ListedGroup.group_id", "kgroups.ListedGroup.group")
        return self.group


LEFT_EPOCH = -2
"""The member epoch of a static member that has left, and may come back within its session timeout (KIP-848)."""


class Member(NamedTuple):
    """One member of a group.

    ``subscription`` and ``owned`` come from the client (classic groups) or from the broker (KIP-848). ``member_epoch``,
    ``target``, and ``upgraded`` exist only in KIP-848 groups. ``upgraded`` is ``False`` for a member of such a group
    that still uses the classic protocol, ``None`` where the broker does not report it. ``metadata_bytes`` and
    ``assignment_bytes`` are the sizes of the undecoded client data of a classic group; they are unknown while the group
    rebalances.
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
    """Details that only members of streams groups have."""
    metadata_bytes: int | None = None
    assignment_bytes: int | None = None

    @property
    def has_left(self) -> bool:
        """Whether a static member of a KIP-848 group has left for a moment: its assignment is reserved for it."""
        return self.member_epoch == LEFT_EPOCH


class Group(NamedTuple):
    """One described group.

    ``protocol`` is the current assignor (``""`` if none was chosen). ``members`` is ``None`` if this version cannot
    describe members of the group's type.
    """

    group: GroupId
    type: str | None
    state: str
    protocol_type: str
    protocol: str
    coordinator: Node
    members: tuple[Member, ...] | None = ()
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None
    topology: Topology | None = None
    """Only of streams groups."""

    def subscribed_topics(self) -> Iterator[str]:
        """Yield the topics that members name in their subscriptions, and the input topics of a streams topology."""
        for member in self.members or ():
            yield from member.subscription.topics
        if self.topology is not None:
            yield from self.topology.sources | self.topology.repartitions

    def is_assigned(self, topics: Container[str]) -> bool:
        """Return whether a member is assigned partitions of one of these topics."""
        return any(entry.topic in topics for member in self.members or () for entry in member.assignment.topics)

    @property
    def group_id(self) -> GroupId:
        """The group ID; deprecated: use ``group``."""
        warn_once("kgroups.Group.group_id", "kgroups.Group.group")
        return self.group


LONGEST_NAME = 32_767
"""In bytes: the protocol stores the length as a signed 16-bit number."""


def check_sendable(name: str, where: str, what: str = "a name") -> None:
    """Check that Kafka's protocol can represent a name.

    :param where: the source of the name, for the error: a flag, or the line of a file.
    :param what: what it is, if not a name, for the error.
    :raises UsageError: if it cannot be represented.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{where}: {name!r} is not UTF-8") from None
    if size > LONGEST_NAME:
        raise UsageError(f"{where}: {what} of {size:,} bytes; Kafka's protocol takes {LONGEST_NAME:,}")
