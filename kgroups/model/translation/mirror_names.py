"""The topics of MirrorMaker 2, by the aliases of its clusters and its replication policy."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

SYNCS, CHECKPOINTS, HEARTBEATS, INTERNAL = "mm2-offset-syncs", "checkpoints", "heartbeats", "internal"


class MirrorNames(NamedTuple):
    """How MirrorMaker 2 names clusters and topics; ``None``: to be found out.

    ``source`` and ``target`` are the aliases of the clusters. ``renames``: whether copies are named
    ``<source><separator><topic>`` (DefaultReplicationPolicy), or as the topic (IdentityReplicationPolicy).
    ``on_target``: whether the offset syncs are on the target (``offset-syncs.topic.location``).
    ``internal_separator`` is the one in the names of MirrorMaker 2's own topics; ``None``: the same.
    """

    source: str | None = None
    target: str | None = None
    separator: str = "."
    internal_separator: str | None = None
    renames: bool | None = None
    on_target: bool | None = None

    @property
    def _between(self) -> str:
        return self.separator if self.internal_separator is None else self.internal_separator

    def syncs_topic(self, alias: str | None = None) -> str:
        """Return the topic of the offset syncs.

        :param alias: that of the other cluster than the one that has the topic; by default, the one set here.
        """
        other = self.source if self.on_target else self.target
        return self._between.join((SYNCS, alias or other or "", INTERNAL))

    def checkpoints_topic(self, source: str | None = None) -> str:
        return self._between.join((source or self.source or "", CHECKPOINTS, INTERNAL))

    def syncs_aliases(self, topics: Collection[str]) -> list[str]:
        """Return the aliases in the names of topics with offset syncs, sorted."""
        return _aliases(f"{SYNCS}{self._between}", f"{self._between}{INTERNAL}", topics)

    def checkpoint_aliases(self, topics: Collection[str]) -> list[str]:
        return _aliases("", f"{self._between}{CHECKPOINTS}{self._between}{INTERNAL}", topics)

    def has_copies(self, topics: Collection[str]) -> bool:
        """Return whether topics of the target are copies with a new name."""
        prefix = f"{self.source}{self.separator}"
        own = {self.checkpoints_topic(), prefix + HEARTBEATS}
        return any(name.startswith(prefix) and name not in own for name in topics)

    def copy_of(self, topic: str) -> str:
        """Return the name of a topic's copy."""
        return f"{self.source}{self.separator}{topic}" if self.renames else topic


def _aliases(start: str, end: str, topics: Collection[str]) -> list[str]:
    pattern = re.compile(f"{re.escape(start)}(.+){re.escape(end)}", re.DOTALL)
    return sorted(found[1] for name in topics if (found := pattern.fullmatch(name)))
