"""The Python API: :class:`Cluster`, :class:`Fleet`, both for event loops, too, and the types that they exchange."""

from __future__ import annotations

from kgroups.errors import (
    AuthenticationFailed,
    BrokerUnavailable,
    ClusterUnreachable,
    ConfigError,
    DeadlineExceeded,
    KgroupsError,
    MissingPackage,
    Reason,
    UsageError,
)
from kgroups.model.groups import Group, ListedGroup, Member
from kgroups.model.health.findings import Finding
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import (
    FromPlan,
    PlannedOffset,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToGroup,
    ToLatest,
    ToOffset,
    ToTime,
)
from kgroups.model.operations.results import AppliedOffset, DeletedGroup
from kgroups.model.outcome import Failure, Result, Scope
from kgroups.model.permissions import Acl
from kgroups.model.settings.change import AppliedSetting, PlannedSetting
from kgroups.model.settings.setting import SettingRow
from kgroups.model.severity import Minimum, Severity, Threshold
from kgroups.model.snapshot.rows import SnapshotRow
from kgroups.model.views.lag_rows import GroupLagRow, MemberLagRow, PartitionLagRow, TopicLagRow
from kgroups.model.views.offset_row import OffsetRow

from .arguments import GroupFilters
from .asynchronous import AsyncCluster
from .blocking import Cluster, Fleet
from .fleet import AsyncFleet
from .items import InCluster, PlannedDeletion
from .outcome import Outcome, PartialFailure

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
    "GroupFilters",
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
]
