"""ListGroups (key 16): the groups that a broker coordinates.

v0  group and protocol type
v3  flexible form
v4  the broker filters by state and reports each group's state (KIP-518, Kafka 2.6)
v5  the broker filters by type and reports each group's type (KIP-848, Kafka 3.8)
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from kgroups.model.groups import GroupId, GroupType, canonical_word

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, Seen, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(16, "ListGroups", 0, 5, flexible=3, throttled_from=2)

FILTERED = 2
"""The first version of brokers that leave out groups without DESCRIBE (KIP-231, Kafka 2.1); older ones reject."""
STATES = 4
"""The first version with states."""
TYPES = 5
"""The first version with types."""
_THROTTLE = 1


class ListedEntry(NamedTuple):
    """A group as one broker lists it; ``state`` and ``type`` are ``None`` if the version does not have them."""

    group_id: GroupId
    protocol_type: str
    state: str | None
    type: str | None


class GroupList(NamedTuple):
    """The groups, and an error if the coordinator is still loading others."""

    error: KafkaError | None
    entries: tuple[ListedEntry, ...]


class ListGroups(NamedTuple):
    """List the groups in these states and of these types; empty: any.

    A version without a filter lists all groups; the caller filters.
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
        form = form_of(API, version)
        states = form.array(map(form.string, self.states)) if version >= STATES else b""
        types = form.array(map(form.string, self.types)) if version >= TYPES else b""
        return states + types + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> GroupList:
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            error = reader.int16()
            seen: Seen[_Attributes] = []
            attributes = partial(_attributes, version)
            count = reader.count()
            entries = tuple(
                [ListedEntry(reader.string(), *reader.repeated(seen, attributes)) for _ in reader.turns(count)]
            )
            reader.tags()
            reader.end()
            return GroupList(kafka_error(error) if error else None, entries)


_Attributes = tuple[str, str | None, str | None]
"""Protocol type, state, type."""


def _attributes(version: int, reader: Reader) -> _Attributes:
    """Read the fields of a group after its name."""
    protocol_type = reader.string()
    state = reader.string() if version >= STATES else None
    group_type = reader.string() if version >= TYPES else None
    reader.tags()
    return protocol_type, state or None, _type(group_type)


def _type(word: str | None) -> str | None:
    """Capitalize a type, as Kafka's tools do: brokers write it in lowercase."""
    return (canonical_word(word, GroupType.ALL) or word) if word else None
