"""Select the version of an API for a broker.

Every broker reports its versions in ApiVersions; each file under ``apis/`` lists the versions that kgroups supports,
and what each introduced. The newest common version is selected per broker, so that clusters can be upgraded in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.errors import UnsupportedVersion


class VersionRange(NamedTuple):
    oldest: int
    newest: int


class Api(NamedTuple):
    """A Kafka API and its supported versions; from ``flexible`` on, messages have the form of KIP-482."""

    key: int
    name: str
    oldest: int
    newest: int
    flexible: int
    waits: bool = False
    """Whether a broker waits for other brokers, or for disks: everything after it on its connection waits, too."""

    def __str__(self) -> str:
        return self.name


class BrokerVersions(NamedTuple):
    """The versions that a broker supports: API key -> range.

    ``pause`` is the number of seconds for which the broker throttles the client after this response.
    """

    ranges: Mapping[int, VersionRange]
    pause: float = 0.0

    def pick(self, api: Api) -> int:
        """Return the newest version that both sides support.

        :raises UnsupportedVersion: when there is none.
        """
        theirs = self.ranges.get(api.key)
        if theirs is None:
            raise UnsupportedVersion(f"the broker does not support {api}")
        newest = min(theirs.newest, api.newest)
        if newest < max(theirs.oldest, api.oldest):
            raise UnsupportedVersion(
                f"the broker supports {api} v{theirs.oldest} to v{theirs.newest}, "
                f"kgroups v{api.oldest} to v{api.newest}"
            )
        return newest

    def speaks(self, api: Api, version: int = 0) -> bool:
        """Return whether there is a common version that is at least ``version``."""
        try:
            return self.pick(api) >= version
        except UnsupportedVersion:
            return False


# Apart from their messages, which ``list`` does not load.
LIST_OFFSETS = Api(2, "ListOffsets", 1, 10, flexible=6)
OFFSET_FETCH = Api(9, "OffsetFetch", 2, 9, flexible=6)
FIND_COORDINATOR = Api(10, "FindCoordinator", 0, 6, flexible=3)
