"""Items of outcomes as dictionaries: the same keys and values as ``--output json``."""

from __future__ import annotations

from typing import Any

from kgroups.model.groups import Group, ListedGroup
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset, DeletedGroup
from kgroups.model.settings.change import AppliedSetting, PlannedSetting, setting_change_row
from kgroups.model.settings.setting import SettingRow
from kgroups.model.snapshot.rows import SnapshotRow
from kgroups.model.views.lag_rows import GroupLagRow, MemberLagRow, PartitionLagRow, TopicLagRow
from kgroups.model.views.list_row import list_row
from kgroups.model.views.member_rows import member_rows, state_row
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.operation_rows import delete_row, reset_row, result_and_error
from kgroups.render.act_views import DELETE, RESET_OFFSETS
from kgroups.render.jsonout import plain_data
from kgroups.render.lag_views import GROUP_LAG, MEMBER_LAG, PARTITION_LAG, TOPIC_LAG
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.settings_views import SETTING_CHANGES, SETTINGS
from kgroups.render.snapshot_views import SNAPSHOT
from kgroups.render.views import View

from .items import InCluster, PlannedDeletion

_VIEWS: dict[type[Any], View] = {
    OffsetRow: OFFSETS,
    GroupLagRow: GROUP_LAG,
    TopicLagRow: TOPIC_LAG,
    PartitionLagRow: PARTITION_LAG,
    MemberLagRow: MEMBER_LAG,
    SettingRow: SETTINGS,
    SnapshotRow: SNAPSHOT,
}


def record_of(item: object) -> dict[str, Any]:
    """Return an item as a dictionary.

    :raises KeyError: if no command shows such items.
    """
    match item:
        case ListedGroup():
            return _record(LIST, list_row(item))
        case Group():
            members = None if item.members is None else [_record(MEMBERS, row) for row in member_rows(item)]
            return _record(STATE, state_row(item)) | {"member_details": members}
        case PlannedOffset():
            return _record(RESET_OFFSETS, reset_row(item))
        case AppliedOffset():
            return _record(RESET_OFFSETS, reset_row(item.planned, result_and_error(item.result, item.failure)))
        case PlannedSetting():
            return _record(SETTING_CHANGES, setting_change_row(item))
        case AppliedSetting():
            result = result_and_error(item.result, item.failure)
            return _record(SETTING_CHANGES, setting_change_row(item.planned, result))
        case PlannedDeletion():
            return _record(DELETE, delete_row(item.planned))
        case DeletedGroup():
            outcome, error = result_and_error(item.result, item.failure)
            return {"group": item.group, "result": outcome, "error": error}
        case InCluster():
            return {"cluster": item.cluster, **record_of(item.item)}
    return _record(_VIEWS[type(item)], item)


def _record(view: View, row: Any) -> dict[str, Any]:
    return {column.key: plain_data(column.value(row)) for column in view.columns}
