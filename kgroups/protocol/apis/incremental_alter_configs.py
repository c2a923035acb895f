"""IncrementalAlterConfigs (key 44): set and remove single values of the dynamic configuration of groups.

v0  Kafka 2.3
v1  flexible form
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import Form, form_of
from .describe_configs import GROUP

API = Api(44, "IncrementalAlterConfigs", 0, 1, flexible=1, waits=True, throttled_from=0)

_SET, _REMOVE = b"\0", b"\1"

_MESSAGES = {
    Code.cluster_authorization_failed: "not authorized: needs the ACL ALTER_CONFIGS on the cluster",
}

Changes = Mapping[str, str | None]
"""Name -> new value; ``None`` removes the value."""


class IncrementalAlterConfigs(NamedTuple):
    """Change the dynamic configuration of these groups: all values of a group, or none.

    ``validate_only``: only check whether the values are valid.
    """

    changes: Mapping[GroupId, Changes]
    validate_only: bool = False

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.changes)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        resources = form.array(
            bytes((GROUP,))
            + form.string(group)
            + form.array(_change(form, name, value) for name, value in changes.items())
            + form.tags
            for group, changes in self.changes.items()
        )
        return resources + bytes((self.validate_only,)) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, GroupId | KafkaError]:
        """Return group -> itself if it was changed, or its error."""
        results: dict[GroupId, GroupId | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                error, message = reader.int16(), reader.nullable_string()
                reader.skip(1)  # type of the resource
                group = reader.string()
                reader.tags()
                results[group] = kafka_error(error, message, _MESSAGES) if error else group
            reader.tags()
            reader.end()
        return results


def _change(form: Form, name: str, value: str | None) -> bytes:
    if value is None:
        return form.string(name) + _REMOVE + form.null_string + form.tags
    return form.string(name) + _SET + form.string(value) + form.tags
