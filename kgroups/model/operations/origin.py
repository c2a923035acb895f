"""The origin of a plan or undo file: its cluster, topics, and command, and the result of each offset."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from kgroups.errors import UsageError
from kgroups.version import __version__

from ..offsets import Move, PlanKey
from ..outcome import Result

ACCEPT = "--accept-mismatch"
"""The flag that applies a file in spite of mismatches."""


class Mismatch(StrEnum):
    """The mismatches between a file and the cluster that it is applied to."""

    CLUSTER = "cluster"
    TOPIC = "topic"
    OFFSET = "offset"
    SETTING = "setting"

    @property
    def hint(self) -> str:
        """How to write in spite of it."""
        return f"to write it anyway, add {ACCEPT} {self}"


@dataclass(frozen=True, slots=True)
class Source:
    """The run that writes a file. ``topic_ids``: 128-bit numbers; topics whose ID is unknown are absent.

    ``undoes``: the command that the run undoes, if it restores from an undo file.
    """

    cluster_id: str | None = None
    bootstrap: str | None = None
    topic_ids: Mapping[str, int] = field(default_factory=dict)
    command: str | None = None
    created: str | None = None
    version: str | None = None
    undoes: str | None = None

    def stamped(self, bootstrap: str, command: str | None = None) -> Source:
        """Return the source with the servers and the command of this run, the time, and the version of kgroups."""
        created = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return replace(self, bootstrap=bootstrap, command=command, created=created, version=__version__)


@dataclass(frozen=True, slots=True)
class Origin:
    """The contents of a file, except for the offsets to commit.

    :ivar name: of the file, for messages.
    :ivar written: what the run wrote, or was going to write; in a plan, what was committed when it was made. Absent if
        the file does not contain it.
    :ivar results: the result of each offset; absent if the run ended before it was known.
    :ivar beyond_end: old offsets that were already beyond the log end offset.
    :ivar accepted: the mismatches that the user accepts.
    """

    name: str
    source: Source = Source()
    written: Mapping[PlanKey, Move] = field(default_factory=dict)
    results: Mapping[PlanKey, Result] = field(default_factory=dict)
    beyond_end: frozenset[PlanKey] = frozenset()
    accepted: frozenset[Mismatch] = frozenset()

    def on(self, cluster_id: str | None) -> tuple[Origin, tuple[str, ...]]:
        """Return the parts of the origin that apply to a cluster, and notices.

        :raises UsageError: if the file belongs to another cluster, and that is not accepted.
        """
        made = self.source.cluster_id
        notices = self._undo_of_undo()
        if made is None:
            return self, (*notices, f"{self.name} has no cluster ID: it may belong to another cluster")
        if cluster_id is None:
            return self, (*notices, f"{self.name} belongs to cluster {made}; the ID of this cluster is unknown")
        if made == cluster_id:
            return self, notices
        where = f" ({self.source.bootstrap})" if self.source.bootstrap else ""
        message = f"{self.name} belongs to cluster {made}{where}, but this is cluster {cluster_id}"
        if Mismatch.CLUSTER in self.accepted:
            elsewhere = replace(self, source=replace(self.source, topic_ids={}))
            return elsewhere, (*notices, f"{message}: applied because of {ACCEPT} {Mismatch.CLUSTER}")
        raise UsageError(
            f"{message}: nothing was changed",
            hint=f"connect to the cluster of the file, or add {ACCEPT} {Mismatch.CLUSTER}",
        )

    @property
    def undone(self) -> str:
        """What is undone by restoring from the file: the command that wrote it, or the file."""
        return self.source.command or self.name

    def _undo_of_undo(self) -> tuple[str, ...]:
        if self.source.undoes is None:
            return ()
        return (f"{self.name} is of an undo: to restore from it undoes that undo, of: {self.source.undoes}",)

    def topic_changed(self, topic: str, topic_id: int) -> bool | None:
        """Return whether a topic was deleted and recreated since the file was written; ``None`` if unknown."""
        made = self.source.topic_ids.get(topic, 0)
        return made != topic_id if made and topic_id else None


def topic_id_text(topic_id: int) -> str:
    """Return a topic ID as Kafka's tools print it."""
    return base64.urlsafe_b64encode(topic_id.to_bytes(16)).decode().rstrip("=")


def topic_id_of(text: str) -> int:
    """Parse a topic ID as Kafka's tools print it.

    :raises ValueError: if the text is not a topic ID.
    """
    try:
        data = base64.b64decode(text + "==", altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("not base64") from None
    if len(data) != 16:
        raise ValueError("not 16 bytes")
    return int.from_bytes(data)
