"""The schemas of the outputs that are tables: from the views of :mod:`kgroups.render`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from kgroups.config.effective import EffectiveSetting
from kgroups.history.verify.result import Check
from kgroups.model.connection_check import CheckRow
from kgroups.model.settings.change import SettingChangeRow
from kgroups.model.settings.declared import DriftRow
from kgroups.model.settings.setting import SettingRow
from kgroups.model.snapshot.rows import ConfigRow, DiffRow, SnapshotRow
from kgroups.model.views.cluster_groups import ClusterGroupsRow
from kgroups.model.views.cluster_lag import ClusterLagRow
from kgroups.model.views.deep_rows import CommitLog, MemberLog, StateLog
from kgroups.model.views.lag_rows import GroupLagRow, MemberLagRow, PartitionLagRow, TopicLagRow
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.operation_rows import DeleteOffsetRow, DeleteRow, RemoveMemberRow, ResetRow
from kgroups.model.views.share_state_rows import ShareColumns
from kgroups.model.views.summary_row import AllViewsRow, SummaryRow
from kgroups.model.views.topology_rows import TopologyRow
from kgroups.render import (
    act_views,
    check_view,
    deep_views,
    lag_views,
    list_by_cluster,
    list_view,
    member_views,
    offset_view,
    settings_views,
    snapshot_views,
    summary_view,
    topology_views,
)
from kgroups.render.schema_view import SCHEMAS, SchemaRow
from kgroups.render.views import View

from .texts import column_text
from .values import Schema, document, envelope, fields_of, listing, mapping, or_null, record, text


class Output(NamedTuple):
    """A view, the types of its rows, and what else its rows and its envelope may have.

    ``refused``: rows of groups that the principal cannot describe have only ``group`` and ``note``. ``deep``: the view
    with the columns of ``--deep``. ``undo``: the envelope names undo files.
    """

    view: View
    rows: tuple[type[Any], ...]
    title: str
    refused: bool = False
    deep: View | None = None
    undo: bool = False
    local: bool = False
    """No cluster is queried."""


OUTPUTS: Final = (
    Output(list_view.LIST, (ListRow,), "kgroups list: the groups of a cluster"),
    Output(list_by_cluster.LIST_BY_CLUSTER, (ClusterGroupsRow,), "kgroups list --by cluster: groups of whole clusters"),
    Output(
        offset_view.OFFSETS,
        (OffsetRow, CommitLog, ShareColumns),
        "kgroups describe: committed offsets and lag by partition",
        refused=True,
        deep=deep_views.DEEP_OFFSETS,
    ),
    Output(
        member_views.MEMBERS,
        (MemberRow, MemberLog),
        "kgroups describe --members: members and assignments",
        refused=True,
        deep=deep_views.DEEP_MEMBERS,
    ),
    Output(
        member_views.STATE,
        (StateRow, StateLog),
        "kgroups describe --state: states and coordinators",
        refused=True,
        deep=deep_views.DEEP_STATE,
    ),
    Output(topology_views.TOPOLOGY, (TopologyRow,), "kgroups describe --topology: topologies of streams groups"),
    Output(summary_view.SUMMARY, (SummaryRow,), "kgroups describe --summary: one row per group", refused=True),
    Output(summary_view.ALL_VIEWS, (AllViewsRow,), "kgroups describe --all-views: groups with members and offsets"),
    Output(lag_views.GROUP_LAG, (GroupLagRow,), "kgroups lag: the lag of groups", refused=True),
    Output(lag_views.TOPIC_LAG, (TopicLagRow,), "kgroups lag --by topic: the lag of topics", refused=True),
    Output(lag_views.PARTITION_LAG, (PartitionLagRow,), "kgroups lag --by partition: the lag of partitions", True),
    Output(lag_views.MEMBER_LAG, (MemberLagRow,), "kgroups lag --by member: the lag of members", refused=True),
    Output(lag_views.CLUSTER_LAG, (ClusterLagRow,), "kgroups lag --by cluster: the lag of whole clusters"),
    Output(act_views.RESET_OFFSETS, (ResetRow,), "kgroups reset-offsets: the plan, and its results", undo=True),
    Output(
        act_views.DELETE_OFFSETS, (DeleteOffsetRow,), "kgroups delete-offsets: the plan, and its results", undo=True
    ),
    Output(act_views.DELETE, (DeleteRow,), "kgroups delete: the plan, and its results", undo=True),
    Output(
        act_views.REMOVE_MEMBERS, (RemoveMemberRow,), "kgroups remove-members: the plan, and its results", undo=True
    ),
    Output(settings_views.SETTINGS, (SettingRow,), "kgroups settings show: settings of groups"),
    Output(settings_views.DRIFT, (DriftRow,), "kgroups settings diff: settings that differ from a file"),
    Output(
        settings_views.SETTING_CHANGES,
        (SettingChangeRow,),
        "kgroups settings set and unset: the plan, and its results",
        undo=True,
    ),
    Output(snapshot_views.SNAPSHOT, (SnapshotRow,), "kgroups snapshot show: what a snapshot contains", local=True),
    Output(
        snapshot_views.CONFIGS, (ConfigRow,), "kgroups snapshot show --configs: settings of groups in it", local=True
    ),
    Output(snapshot_views.DIFF, (DiffRow,), "kgroups diff and snapshot diff: what differs"),
    Output(check_view.CHECK, (CheckRow,), "kgroups config check: settings, and steps of the connection"),
    Output(check_view.SETTINGS, (EffectiveSetting,), "kgroups config show: effective settings", local=True),
    Output(SCHEMAS, (SchemaRow,), "kgroups schema: the schemas of outputs and files", local=True),
)

WHEN: Final = "x-when"
"""Annotation of a key that only some rows have: the option, or the condition."""

_TEXT = {"type": "string"}
_UNTYPED: Final[Mapping[View, tuple[str, Mapping[str, Schema]]]] = {
    check_view.PROFILES: (
        "kgroups profile list: the profiles",
        {
            "profile": _TEXT,
            "default": {"type": "boolean"},
            "bootstrap": or_null(_TEXT),
            "command_config": or_null(_TEXT),
        },
    ),
    check_view.CHECKED_PROFILES: (
        "kgroups profile list --check: the profiles, and whether their clusters respond",
        {
            "profile": _TEXT,
            "default": {"type": "boolean"},
            "bootstrap": or_null(_TEXT),
            "cluster_id": or_null(_TEXT),
            "groups": or_null({"type": "integer"}),
            "result": _TEXT,
        },
    ),
    check_view.PROFILE: (
        "kgroups profile show: the settings of a profile",
        {"key": _TEXT, "value": _TEXT, "origin": _TEXT},
    ),
}
"""Views whose rows are plain tuples -> title, and types."""

CLUSTER: Final = text("Name of the cluster; only if several are queried.", **{WHEN: "several clusters"})
_UNDO: Final = {
    "undo_file": or_null(text("Path of the undo file. Null: nothing was changed, or none was wanted.")),
    "undo_files": mapping("Paths of the undo files by cluster; only if several clusters are changed.", _TEXT),
}


def tables() -> Iterator[Schema]:
    """Yield the schema of each view."""
    for output in OUTPUTS:
        name, properties = output.view.name, _properties(output)
        more = _UNDO if output.undo else {}
        # The title of a row is its class in Python: generators of code use it.
        item = {"title": output.rows[0].__name__, **_item(output.title, properties)}
        yield document(name, 1, output.title, "json", envelope(name, item, more=more))
    for view, (title, types) in _UNTYPED.items():
        yield document(view.name, 1, title, "json", envelope(view.name, _item(title, described(view.name, types))))
    checks = described("history-test", fields_of(Check))
    title = "kgroups history test: whether a store is correct and complete"
    yield document("history-test", 1, title, "json", envelope("history-test", _item(title, checks)))


def _item(title: str, properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of a row: without ``--columns``, it has every key but ``cluster``, and those of ``--deep``."""
    row = record(f"A row. Without --columns, it has all keys except those with x-when. {title}.", properties)
    return {key: value for key, value in row.items() if key != "required"}


def _properties(output: Output) -> dict[str, Schema]:
    types: dict[str, Schema] = {}
    for row in output.rows:
        types |= {key: value for key, value in fields_of(row).items() if key not in types}
    shown = [column.key for column in (output.deep or output.view).columns]
    name = output.view.name
    if name == "members":
        types["leader"] = or_null({"type": "boolean"})
    if name == "all-views":
        types |= _nested()
    if output.refused:
        types = {key: value if key == "group" else or_null_once(value) for key, value in types.items()}
    properties = described(name, {key: types[key] for key in dict.fromkeys(shown)})
    base = {column.key for column in output.view.columns}
    for key in properties.keys() - base:
        properties[key] |= {"description": f"{properties[key]['description']} Only with --deep.", WHEN: "--deep"}
    return properties if output.local else {"cluster": CLUSTER, **properties}


def _nested() -> dict[str, Schema]:
    rows = {"summary": ("summary", SummaryRow), "members": ("members", MemberRow), "offsets": ("offsets", OffsetRow)}
    return {key: listing("", record("A row.", described(view, fields_of(row)))) for key, (view, row) in rows.items()}


def or_null_once(schema: Schema) -> Schema:
    """Return the schema of a value that may be null, which it may already be."""
    if "null" in (kinds if isinstance(kinds := schema.get("type", []), list) else [kinds]):
        return schema
    return schema if {"type": "null"} in schema.get("anyOf", []) else or_null(schema)


def described(view: str, types: Mapping[str, Schema]) -> dict[str, Schema]:
    found = {}
    for key, value in types.items():
        nullable = or_null_once(value) == value
        found[key] = {**value, "description": column_text(view, key, nullable=nullable)}
    return found
