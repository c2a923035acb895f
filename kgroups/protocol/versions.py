"""Select the version of an API for a broker.

Every broker reports its versions in ApiVersions; each file under ``apis/`` lists the versions that kgroups supports,
and what each introduced. The newest common version is selected per broker, so that clusters can be upgraded in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.errors import UnsupportedVersion

_OFFSET_DELETE = 47
"""Its error code precedes its throttle time."""
_CORRELATION_ID, _ERROR_CODE = 4, 2
"""Sizes in bytes."""


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
    throttled_from: int | None = None
    """The first version whose response has a throttle time that precedes the pause (KIP-124).

    ``None``: no version, and ApiVersions, whose throttle time is at the end.
    """

    def __str__(self) -> str:
        return self.name

    def pause_of(self, version: int, frame: bytes) -> float:
        """Return the seconds for which the broker reads no further requests of this connection; 0 without a quota.

        Since KIP-219 (Kafka 2.0), the broker responds first, and then would appear to hang for a request that is sent
        meanwhile. Older versions pause before they respond.
        """
        if self.throttled_from is None or version < self.throttled_from:
            return 0.0
        # A response header of the flexible form ends with tagged fields, of which none is defined.
        at = _CORRELATION_ID + (version >= self.flexible) + (_ERROR_CODE if self.key == _OFFSET_DELETE else 0)
        return max(0, int.from_bytes(frame[at : at + 4], "big", signed=True)) / 1000


class BrokerVersions(NamedTuple):
    """The versions that a broker supports: API key -> range.

    ``pause`` is the number of seconds for which the broker throttles the client after this response. ``features``: the
    level of each feature that the cluster has finalized (KIP-584); ``None``: not reported.
    """

    ranges: Mapping[int, VersionRange]
    pause: float = 0.0
    features: Mapping[str, int] | None = None

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
LIST_OFFSETS = Api(2, "ListOffsets", 1, 10, flexible=6, throttled_from=3)
OFFSET_FETCH = Api(9, "OffsetFetch", 2, 9, flexible=6, throttled_from=4)
FIND_COORDINATOR = Api(10, "FindCoordinator", 0, 6, flexible=3, throttled_from=2)
