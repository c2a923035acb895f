"""Guess a broker's Kafka release from the API versions that it supports: ApiVersions does not report the release."""

from __future__ import annotations

from typing import NamedTuple

from .versions import BrokerVersions


class Mark(NamedTuple):
    """The release that introduced a version of an API."""

    release: str
    key: int
    version: int


_MARKS = (
    Mark("0.11", 1, 4),
    Mark("1.0", 1, 6),
    Mark("1.1", 1, 7),
    Mark("2.0", 1, 8),
    Mark("2.1", 1, 10),
    Mark("2.2", 43, 0),
    Mark("2.3", 1, 11),
    Mark("2.4", 47, 0),
    Mark("2.5", 9, 7),
    Mark("2.6", 16, 4),
    Mark("2.7", 1, 12),
    Mark("2.8", 60, 0),
    Mark("3.0", 9, 8),
    Mark("3.1", 1, 13),
    Mark("3.2", 13, 5),
    Mark("3.5", 1, 15),
    Mark("3.7", 69, 0),
    Mark("3.8", 16, 5),
    Mark("3.9", 1, 17),
    Mark("4.0", 69, 1),
    Mark("4.1", 77, 1),
)
"""Oldest first: Fetch (1), ElectLeaders (43), OffsetDelete (47), OffsetFetch (9), ListGroups (16), DescribeCluster
(60), LeaveGroup (13), ConsumerGroupDescribe (69), ShareGroupDescribe (77)."""


def release_of(versions: BrokerVersions) -> str:
    """Return a guess such as ``Kafka 2.8 or later, before 3.0``; it can be wrong for other implementations."""
    newest = max((at for at, mark in enumerate(_MARKS) if _supports(versions, mark)), default=None)
    if newest is None:
        return f"older than Kafka {_MARKS[0].release}"
    since = f"Kafka {_MARKS[newest].release} or later"
    return since if newest + 1 == len(_MARKS) else f"{since}, before {_MARKS[newest + 1].release}"


def _supports(versions: BrokerVersions, mark: Mark) -> bool:
    supported = versions.ranges.get(mark.key)
    return supported is not None and supported.newest >= mark.version
