"""The throttle time of a response: how long a client must pause because of a quota (KIP-124).

Since KIP-219 (Kafka 2.0), the broker responds first and then reads nothing from the connection for that long: it would
appear to hang for a request that is sent meanwhile. Older versions pause before they respond.
"""

from __future__ import annotations

from .versions import Api

_FIRST_VERSIONS = {
    1: 8,  # Fetch
    2: 3,  # ListOffsets
    3: 6,  # Metadata
    8: 4,  # OffsetCommit
    9: 4,  # OffsetFetch
    10: 2,  # FindCoordinator
    13: 2,  # LeaveGroup
    15: 2,  # DescribeGroups
    16: 2,  # ListGroups
    20: 2,  # DeleteTopics
    23: 2,  # OffsetForLeaderEpoch
    29: 1,  # DescribeAcls
    32: 2,  # DescribeConfigs
    35: 1,  # DescribeLogDirs
    42: 1,  # DeleteGroups
    44: 0,  # IncrementalAlterConfigs
    47: 0,  # OffsetDelete
    48: 0,  # DescribeClientQuotas
    61: 0,  # DescribeProducers
    65: 0,  # DescribeTransactions
    66: 0,  # ListTransactions
    69: 0,  # ConsumerGroupDescribe
    77: 0,  # ShareGroupDescribe
    89: 0,  # StreamsGroupDescribe
    90: 0,  # DescribeShareGroupOffsets
    91: 0,  # AlterShareGroupOffsets
    92: 0,  # DeleteShareGroupOffsets
}
"""API key -> the first version whose response precedes the pause. ApiVersions is separate: its time is at the end."""

_OFFSET_DELETE = 47
_CORRELATION_ID, _ERROR_CODE = 4, 2


def pause_of(api: Api, version: int, frame: bytes) -> float:
    """Return the seconds for which the broker reads no further requests of this connection; 0 without a quota."""
    first = _FIRST_VERSIONS.get(api.key)
    if first is None or version < first:
        return 0.0
    # A response header of the flexible form ends with tagged fields, of which none is defined.
    at = _CORRELATION_ID + (version >= api.flexible) + (_ERROR_CODE if api.key == _OFFSET_DELETE else 0)
    return max(0, int.from_bytes(frame[at : at + 4], "big", signed=True)) / 1000
