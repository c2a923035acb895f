"""Which version of an API is spoken with a broker.

Every broker says in ApiVersions what it speaks; each file under ``apis/`` says what we speak and what each version
brought. The newest version of both is taken, per broker, so that a cluster in the middle of an upgrade is served.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.errors import UnsupportedVersion


class VersionRange(NamedTuple):
    oldest: int
    newest: int


class Api(NamedTuple):
    """One Kafka API and the versions of it that we speak; from ``flexible`` on, messages are of the form of KIP-482."""

    key: int
    name: str
    oldest: int
    newest: int
    flexible: int

    def __str__(self) -> str:
        return self.name


class BrokerVersions(NamedTuple):
    """What one broker speaks: API key -> range of versions.

    ``pause`` is the number of seconds for which the broker throttles the client after this response.
    """

    ranges: Mapping[int, VersionRange]
    pause: float = 0.0

    def pick(self, api: Api) -> int:
        """The newest version that both sides speak.

        :raises UnsupportedVersion: when there is none.
        """
        theirs = self.ranges.get(api.key)
        if theirs is None:
            raise UnsupportedVersion(f"the broker has no {api}")
        newest = min(theirs.newest, api.newest)
        if newest < max(theirs.oldest, api.oldest):
            raise UnsupportedVersion(
                f"the broker speaks {api} v{theirs.oldest} to v{theirs.newest}, kgroups v{api.oldest} to v{api.newest}"
            )
        return newest

    def speaks(self, api: Api, version: int = 0) -> bool:
        """Whether a common version exists that is at least ``version``."""
        try:
            return self.pick(api) >= version
        except UnsupportedVersion:
            return False
