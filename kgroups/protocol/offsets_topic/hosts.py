"""Replace the hosts of clients in records, so that they are in no byte that is kept.

A member has the host that the broker saw, and what its client chose to send: a Connect worker its URL, Kafka Streams
its endpoint. Of the latter, only topics and partitions remain. A record that cannot be decoded may contain a host
anywhere: only its type and version remain. Names that users choose are not hosts: group, client ID, instance ID, commit
metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kgroups.errors import UndecodableRecord
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE

from ..embedded.consumer import decode_assignment, decode_subscription
from ..record_schemas.encode import encode_value
from ..writer import array, int16, int32, string
from . import decode
from .record_types import RECORD_TYPES

Replace = Callable[[str], str]
"""Host -> its replacement."""

Pair = tuple[bytes | None, bytes | None]
"""Key and value of a record."""

_LONGEST_MARKER: Final = 4
"""Bytes of the key of a transaction marker, which contains no text."""
_HEAD: Final = 2
"""Bytes of the type in a key, and of the version in a value."""
_NO_USER_DATA: Final = int32(-1)
_UNREADABLE: Final = b"\0"
"""Stands for bytes that are not topics and partitions; empty bytes would be a member without any."""


def replace_hosts(key: bytes | None, value: bytes | None, replace: Replace) -> Pair:
    """Return the key and value of a record without hosts; they are the same if there are none in its type."""
    try:
        record = decode(key, value)
    except UndecodableRecord as error:
        is_short = key is None or error.group is not None or len(key) <= _LONGEST_MARKER
        return (key if is_short or key is None else key[:_HEAD]), value and value[:_HEAD]
    if record.value is None or record.value_version is None or record.record_type not in _REPLACED:
        return key, value
    replaced = _REPLACED[record.record_type](record.value, replace)
    return key, encode_value(RECORD_TYPES[record.record_type], record.value_version, replaced)


def _classic_group(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    is_consumer = value["protocolType"] == CONSUMER_PROTOCOL_TYPE
    members = [
        member
        | {
            "clientHost": replace(member["clientHost"]),
            "subscription": _topics_only(member["subscription"], is_consumer),
            "assignment": _partitions_only(member["assignment"], is_consumer),
        }
        for member in value["members"]
    ]
    return value | {"members": members}


def _member(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    return value | {"ClientHost": replace(value["ClientHost"])}


def _consumer_member(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    classic = value["ClassicMemberMetadata"]
    if classic is not None:
        protocols = [
            protocol | {"Metadata": _topics_only(protocol["Metadata"], True)}
            for protocol in classic["SupportedProtocols"]
        ]
        value = value | {"ClassicMemberMetadata": classic | {"SupportedProtocols": protocols}}
    return _member(value, replace)


def _streams_member(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    endpoint = value["UserEndpoint"]
    if endpoint is not None:
        value = value | {"UserEndpoint": endpoint | {"Host": replace(endpoint["Host"])}}
    return _member(value, replace)


_REPLACED: Final[dict[int, Callable[[dict[str, Any], Replace], dict[str, Any]]]] = {
    2: _classic_group,
    5: _consumer_member,
    10: _member,
    19: _streams_member,
}
"""Record types that contain hosts."""


def _topics_only(data: bytes, is_consumer: bool) -> bytes:
    """Return a subscription of the same topics, in version 0."""
    if not data:
        return data
    found = decode_subscription(data) if is_consumer else None
    if found is None or found.raw:
        return _UNREADABLE
    return int16(0) + array(map(string, found.topics)) + _NO_USER_DATA


def _partitions_only(data: bytes, is_consumer: bool) -> bytes:
    """Return an assignment of the same partitions, in version 0."""
    if not data:
        return data
    found = decode_assignment(data) if is_consumer else None
    if found is None or found.raw:
        return _UNREADABLE
    return int16(0) + array(string(topic) + _int32s(numbers) for topic, numbers in found.topics) + _NO_USER_DATA


def _int32s(numbers: Iterable[int]) -> bytes:
    return array(map(int32, numbers))
