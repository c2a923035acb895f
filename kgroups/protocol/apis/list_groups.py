"""ListGroups (key 16): the groups that a broker coordinates.

v0  group and protocol type
v3  flexible
v4  the broker filters by state and tells each group's state (KIP-518, Kafka 2.6)
v5  the broker filters by type and tells each group's type (KIP-848, Kafka 3.8)

By hand: every group of a cluster passes here.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from kgroups.model.groups import GroupId, GroupType, canonical_word

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, Seen, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(16, "ListGroups", 0, 5, flexible=3)

STATES = 4
"""The first version that knows states."""
TYPES = 5
"""The first version that knows types."""
_THROTTLE = 1


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
        form = form_of(API, version)
        states = form.array(map(form.string, self.states)) if version >= STATES else b""
        types = form.array(map(form.string, self.types)) if version >= TYPES else b""
        return states + types + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> GroupList:
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            error = reader.int16()
            seen: Seen[_Words] = []
            words = partial(_words, version)
            count = reader.count()
            entries = tuple([ListedEntry(reader.string(), *reader.repeated(seen, words)) for _ in reader.turns(count)])
            reader.tags()
            reader.end()
            return GroupList(kafka_error(error) if error else None, entries)


_Words = tuple[str, str | None, str | None]


def _words(version: int, reader: Reader) -> _Words:
    """What stands behind a group's name."""
    protocol_type = reader.string()
    state = reader.string() if version >= STATES else None
    kind = reader.string() if version >= TYPES else None
    reader.tags()
    return protocol_type, state or None, _type(kind)


def _type(word: str | None) -> str | None:
    """Brokers write types in small letters, Kafka's tools with a capital."""
    return (canonical_word(word, GroupType.ALL) or word) if word else None
