"""Every schema: its name and title, and what it is composed from. To list them, nothing is composed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Table(NamedTuple):
    """An output with the rows of a view.

    ``refused``: the rows of groups that the principal cannot describe have only ``group`` and ``note``. ``undo``: the
    envelope names undo files. ``local``: no cluster is queried. ``titled``: the rows have a class in Python.
    """

    title: str
    view: str
    """Module and name of the view, in :mod:`kgroups.render`."""
    refused: bool = False
    deep: str = ""
    """Module and name of the view with the columns of ``--deep``."""
    undo: bool = False
    local: bool = False
    titled: bool = True


class Document(NamedTuple):
    """An output or file with keys of its own."""

    title: str
    source: str
    """Module and name of the function that returns its schema, in :mod:`kgroups.schemas`."""
    format: str = "json"
    """``json``, ``jsonl`` (the schema is that of one line), or ``toml``."""
    arguments: tuple[str, ...] = ()
    """Of the function."""


TABLES: Final[Mapping[str, Table]] = {
    "list": Table("kgroups list: the groups of a cluster", "list_view:LIST"),
    "list-by-cluster": Table("kgroups list --by cluster: groups of whole clusters", "list_by_cluster:LIST_BY_CLUSTER"),
    "list-migration": Table(
        "kgroups list --migration: migration to the consumer protocol, and back",
        "migration_view:MIGRATION",
        titled=False,
    ),
    "offsets": Table(
        "kgroups describe: committed offsets and lag by partition",
        "offset_view:OFFSETS",
        refused=True,
        deep="deep_views:DEEP_OFFSETS",
    ),
    "members": Table(
        "kgroups describe --members: members and assignments",
        "member_views:MEMBERS",
        refused=True,
        deep="deep_views:DEEP_MEMBERS",
    ),
    "state": Table(
        "kgroups describe --state: states and coordinators",
        "member_views:STATE",
        refused=True,
        deep="deep_views:DEEP_STATE",
    ),
    "owners": Table("kgroups owners: who reads partitions", "owner_view:OWNERS", refused=True, titled=False),
    "waves": Table("kgroups waves: what must move together", "wave_views:WAVES", titled=False),
    "wave-items": Table(
        "kgroups waves --list: the groups, topics, and producers of waves", "wave_views:ITEMS", titled=False
    ),
    "wave-links": Table("kgroups waves --links: what joins them", "wave_views:LINKS", titled=False),
    "topology": Table("kgroups describe --topology: topologies of streams groups", "topology_views:TOPOLOGY"),
    "summary": Table("kgroups describe --summary: one row per group", "summary_view:SUMMARY", refused=True),
    "all-views": Table("kgroups describe --all-views: groups with members and offsets", "summary_view:ALL_VIEWS"),
    "lag": Table("kgroups lag: the lag of groups", "lag_views:GROUP_LAG", refused=True),
    "lag-by-topic": Table("kgroups lag --by topic: the lag of topics", "lag_views:TOPIC_LAG", refused=True),
    "lag-by-partition": Table(
        "kgroups lag --by partition: the lag of partitions", "lag_views:PARTITION_LAG", refused=True
    ),
    "lag-by-member": Table("kgroups lag --by member: the lag of members", "lag_views:MEMBER_LAG", refused=True),
    "lag-by-cluster": Table("kgroups lag --by cluster: the lag of whole clusters", "lag_views:CLUSTER_LAG"),
    "reset-offsets": Table("kgroups reset-offsets: the plan, and its results", "act_views:RESET_OFFSETS", undo=True),
    "delete-offsets": Table("kgroups delete-offsets: the plan, and its results", "act_views:DELETE_OFFSETS", undo=True),
    "delete": Table("kgroups delete: the plan, and its results", "act_views:DELETE", undo=True),
    "remove-members": Table("kgroups remove-members: the plan, and its results", "act_views:REMOVE_MEMBERS", undo=True),
    "translate": Table("kgroups translate: offsets on another cluster", "translation_views:TRANSLATE", undo=True),
    "parity": Table("kgroups parity: next records on two clusters", "translation_views:PARITY"),
    "settings": Table("kgroups settings show: settings of groups", "settings_views:SETTINGS"),
    "settings-diff": Table("kgroups settings diff: settings that differ from a file", "settings_views:DRIFT"),
    "settings-change": Table(
        "kgroups settings set and unset: the plan, and its results", "settings_views:SETTING_CHANGES", undo=True
    ),
    "snapshot-show": Table("kgroups snapshot show: what a snapshot contains", "snapshot_views:SNAPSHOT", local=True),
    "snapshot-configs": Table(
        "kgroups snapshot show --configs: settings of groups in it", "snapshot_views:CONFIGS", local=True
    ),
    "diff": Table("kgroups diff and snapshot diff: what differs", "snapshot_views:DIFF"),
    "config-check": Table("kgroups config check: settings, and steps of the connection", "check_view:CHECK"),
    "config-show": Table("kgroups config show: effective settings", "check_view:SETTINGS", local=True),
    "schemas": Table("kgroups schema: the schemas of outputs and files", "schema_view:SCHEMAS", local=True),
    "profiles": Table("kgroups profile list: the profiles", "check_view:PROFILES", local=True, titled=False),
    "profiles-check": Table(
        "kgroups profile list --check: the profiles, and whether their clusters respond",
        "check_view:CHECKED_PROFILES",
        local=True,
        titled=False,
    ),
    "profile": Table("kgroups profile show: the settings of a profile", "check_view:PROFILE", local=True, titled=False),
}
"""Name -> table; the version of each is 1."""

DOCUMENTS: Final[Mapping[str, Document]] = {
    "check/v1": Document("kgroups check: findings about groups, and their overall status", "documents:check"),
    "explain/v1": Document("kgroups explain: findings about groups", "explain:groups"),
    "explain-partitions/v1": Document("kgroups explain --partition: verdicts about partitions", "explain:partitions"),
    "explain-migration/v1": Document(
        "kgroups explain --migration: migration to the consumer protocol, and back", "explain:migrations"
    ),
    "watch/v1": Document("kgroups watch: the groups at one refresh; one line each", "documents:watch", "jsonl"),
    "watch-by-cluster/v1": Document(
        "kgroups watch --by cluster: the totals of clusters at one refresh; one line each",
        "documents:watch_by_cluster",
        "jsonl",
    ),
    "error/v1": Document("kgroups mcp: a call without a result", "documents:error"),
    "help/v1": Document("kgroups --help-json: commands and their options", "documents:help_page"),
    "plan/v1": Document("Plan of a reset (reset-offsets --export -o json, --from-file)", "files:plan"),
    "undo/v1": Document("Undo file of the first format, which is still read", "files:first_undo"),
    "undo/v2": Document("Undo file of offsets, a line", "files:undo", "jsonl"),
    "undo-settings/v1": Document("Undo file of settings, a line", "files:undo_settings", "jsonl"),
    "skipped-records/v1": Document("Records that a reset skips, a line", "files:skipped_records", "jsonl"),
    "snapshot/v1": Document("Snapshot (in gzip), a line", "files:snapshot", "jsonl"),
    "rules/v1": Document("Rules of kgroups check (--rules)", "toml_files:rules", "toml"),
    "config/v1": Document("Configuration file with profiles, config.toml", "toml_files:config", "toml"),
    "settings-file/v1": Document(
        "Settings of groups (settings set, unset, and diff)", "toml_files:settings_of_groups", "toml"
    ),
}
"""Name and version -> document; those of history are in :func:`documents_of_history`."""

_SQL: Final = "kgroups history sql: rows of a query; their keys are the columns of the query"
_TEST: Final = "kgroups history test: whether a store is correct and complete"


def documents_of_history() -> Mapping[str, Document]:
    """Return the documents of history: of ``show`` for each table, of ``dump``, ``sql``, and ``test``."""
    from kgroups.history.contracts import TABLES as HISTORY
    from kgroups.history.tables import DECODED

    found = {
        "history-sql/v1": Document(_SQL, "history:queried", arguments=(_SQL,)),
        "history-test/v1": Document(_TEST, "history:tested", arguments=(_TEST,)),
    }
    for table in HISTORY.values():
        title = f"kgroups history show {table.name}: {table.doc.split('. ')[0].rstrip('.')}"
        source, form = "history:shown", "json"
        if table == DECODED:
            title = "kgroups history dump: the decoded log; one line per record"
            source, form = "history:dumped", "jsonl"
        found[f"history-{table.name}/v1"] = Document(title, source, form, (table.name, title))
    return found
