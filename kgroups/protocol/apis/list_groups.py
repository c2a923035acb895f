"""ListGroups (key 16): the groups that a broker coordinates.

v0  group and protocol type
v3  flexible
v4  the broker filters by state and tells each group's state (KIP-518, Kafka 2.6)
v5  the broker filters by type and tells each group's type (KIP-848, Kafka 3.8)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kgroups.model.groups import GroupId, GroupType, canonical_word

from ..error_codes import KafkaError, kafka_error
from ..schema import read_response, write_request
from ..versions import Api

API = Api(16, "ListGroups", 0, 5, flexible=3)

STATES = 4
"""The first version that knows states."""
TYPES = 5
"""The first version that knows types."""


class ListedEntry(NamedTuple):
    """A group as one broker lists it; ``state`` and ``type`` are ``None`` where the version does not carry them."""

    group_id: GroupId
    protocol_type: str
    state: str | None
    type: str | None


class GroupList(NamedTuple):
    """A loading coordinator lists what it has, with an error beside it."""

    error: KafkaError | None
    entries: tuple[ListedEntry, ...]


class ListGroups(NamedTuple):
    """Which groups do you coordinate, in these states and of these types? Empty: in any.

    A version that does not know a filter lists without it; the caller filters.
    """

    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 0

    def encode(self, version: int) -> bytes:
        return write_request(API, version, states_filter=self.states, types_filter=self.types)

    def decode(self, version: int, data: bytes, offset: int) -> GroupList:
        response = read_response(API, version, data, offset)
        entries = tuple(
            ListedEntry(
                group.group_id,
                group.protocol_type,
                getattr(group, "group_state", None) or None,
                _type(getattr(group, "group_type", None)),
            )
            for group in response.groups
        )
        return GroupList(kafka_error(response.error_code) if response.error_code else None, entries)


@lru_cache(maxsize=64)
def _type(word: str | None) -> str | None:
    """Brokers write types in small letters, Kafka's tools with a capital."""
    return (canonical_word(word, GroupType.ALL) or word) if word else None
