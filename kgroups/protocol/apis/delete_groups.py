"""DeleteGroups (key 42): forget groups and all that they have committed, many a request.

v0  Kafka 1.1
v1  throttling is told before it begins; same shape
v2  flexible form
v3  the broker's reason for each error (Kafka 4.4)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(42, "DeleteGroups", 0, 3, flexible=2)

_MESSAGES = 3
"""The first version with a reason for each error."""

_WORDS = {
    Code.non_empty_group: "the group has members",
}


class DeleteGroups(NamedTuple):
    """Forget these groups, which you coordinate."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(map(form.string, self.groups)) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, GroupId | KafkaError]:
        """Group -> itself when it is gone, or the error given for it."""
        answers: dict[GroupId, GroupId | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                group, code = reader.string(), reader.int16()
                message = reader.nullable_string() if version >= _MESSAGES else None
                reader.tags()
                answers[group] = _error(code, message) if code else group
            reader.tags()
            reader.end()
        return answers


def _error(code: int, message: str | None) -> KafkaError:
    """The broker's own reason, where it gives one, is more exact than a text for its error code."""
    return KafkaError(Code(code), message) if message else kafka_error(code, words=_WORDS)
