"""OffsetCommit (key 8) for members and the sandbox's groups: offsets with the same metadata, and one result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit
from kgroups.protocol.apis import offset_commit
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.versions import Api


class OffsetCommit(NamedTuple):
    """Commit these offsets, topic -> partition -> offset.

    Without a member ID and generation, the group must be empty; it is created if it does not exist.
    """

    group: GroupId
    offsets: Mapping[str, Mapping[int, int]]
    member_id: str = offset_commit.NO_MEMBER
    generation: int = offset_commit.NO_GENERATION
    metadata: str = ""

    @property
    def api(self) -> Api:
        return offset_commit.API

    @property
    def keys(self) -> int:
        return sum(map(len, self.offsets.values()))

    @property
    def _call(self) -> offset_commit.OffsetCommit:
        topics = {
            topic: [Commit(index, offset, None, self.metadata) for index, offset in offsets.items()]
            for topic, offsets in self.offsets.items()
        }
        return offset_commit.OffsetCommit(self.group, topics, self.member_id, self.generation)

    def encode(self, version: int) -> bytes:
        return self._call.encode(version)

    def decode(self, version: int, data: bytes, offset: int) -> KafkaError | None:
        """Return the first error of any partition, or ``None`` if all offsets were committed."""
        errors = self._call.decode(version, data, offset)[self.group]
        return errors if isinstance(errors, KafkaError) else next(filter(None, errors.values()), None)
