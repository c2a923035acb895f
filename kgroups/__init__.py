"""Manage Kafka consumer groups, on the command line and in Python.

Programs import :class:`Cluster`, :class:`Fleet` (several clusters), or with an event loop :class:`AsyncCluster` or
:class:`AsyncFleet`, and the types that these accept and return. Nothing is imported before it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes time, during which Ctrl-C could not be handled
if TYPE_CHECKING:
    from .api import (
        Acl,
        AppliedOffset,
        AppliedSetting,
        AsyncCluster,
        AsyncFleet,
        AuthenticationFailed,
        BrokerUnavailable,
        Cluster,
        ClusterUnreachable,
        Commit,
        ConfigError,
        DeadlineExceeded,
        DeletedGroup,
        Failure,
        Finding,
        Fleet,
        FromPlan,
        Group,
        GroupLagRow,
        InCluster,
        KgroupsError,
        Limits,
        ListedGroup,
        Member,
        MemberLagRow,
        Minimum,
        MissingPackage,
        OffsetRow,
        Outcome,
        PartialFailure,
        PartitionLagRow,
        PlannedDeletion,
        PlannedOffset,
        PlannedSetting,
        Reason,
        Report,
        Result,
        Scope,
        SettingRow,
        Severity,
        ShiftBy,
        SnapshotRow,
        Threshold,
        ToCurrent,
        ToEarliest,
        ToGroup,
        ToLatest,
        ToOffset,
        TopicLagRow,
        ToTime,
        UsageError,
    )
    from .version import __version__

__all__ = [
    "Acl",
    "AppliedOffset",
    "AppliedSetting",
    "AsyncCluster",
    "AsyncFleet",
    "AuthenticationFailed",
    "BrokerUnavailable",
    "Cluster",
    "ClusterUnreachable",
    "Commit",
    "ConfigError",
    "DeadlineExceeded",
    "DeletedGroup",
    "Failure",
    "Finding",
    "Fleet",
    "FromPlan",
    "Group",
    "GroupLagRow",
    "InCluster",
    "KgroupsError",
    "Limits",
    "ListedGroup",
    "Member",
    "MemberLagRow",
    "Minimum",
    "MissingPackage",
    "OffsetRow",
    "Outcome",
    "PartialFailure",
    "PartitionLagRow",
    "PlannedDeletion",
    "PlannedOffset",
    "PlannedSetting",
    "Reason",
    "Report",
    "Result",
    "Scope",
    "SettingRow",
    "Severity",
    "ShiftBy",
    "SnapshotRow",
    "Threshold",
    "ToCurrent",
    "ToEarliest",
    "ToGroup",
    "ToLatest",
    "ToOffset",
    "ToTime",
    "TopicLagRow",
    "UsageError",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is used, because the commands use none of them."""
    if name == "__version__":
        from .version import __version__

        return __version__
    if name in __all__:
        from . import api

        found: object = getattr(api, name)
        return found
    raise AttributeError(f"module 'kgroups' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
