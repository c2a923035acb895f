"""Shell completion of values that are known without a cluster: formats, columns, states, tables, and sandboxes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from kgroups.render.views import View


def formats(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the values of ``--output``."""
    from kgroups.render.output import FORMATS

    return _beginning(("auto", *FORMATS), prefix)


def columns(context: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem[str]]:
    """Return the next column of a comma-separated list, of the view that the command line selects."""
    view = view_of_line(context)
    headers = {column.key: column.header for column in view.columns} if view else {}
    return [CompletionItem(word, help=headers[word.rpartition(",")[2]]) for word in list_words(headers, prefix)]


def states(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the next state of a comma-separated list."""
    from kgroups.model.groups import GroupState

    return list_words(GroupState.ALL, prefix)


def types(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the next group type of a comma-separated list."""
    from kgroups.model.groups import GroupType

    return list_words([name.lower() for name in GroupType.ALL], prefix)


def files(_: click.Context, __: click.Parameter, prefix: str) -> list[CompletionItem[str]]:
    """Let the shell complete a path."""
    return [CompletionItem(prefix, "file")]


def tables(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the tables of history that have a schema."""
    from kgroups.history.contracts import TABLES

    return _beginning(TABLES, prefix)


def shown_tables(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the tables of history that ``history show`` shows."""
    from kgroups.history.jobs.show import TABLES

    return _beginning(TABLES, prefix)


def schemas(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the names of the schemas, and with a slash, also their versions."""
    from kgroups.schemas import schema_names

    names = schema_names()
    versions = [f"{each.name}/v{each.version}" for each in names] if "/" in prefix else []
    return _beginning([*dict.fromkeys(each.name for each in names), *map(str, names), *versions], prefix)


def sandboxes(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the names of the running sandboxes."""
    from kgroups.sandbox import Sandbox

    return _beginning(Sandbox.names(), prefix)


def versions(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the versions of Kafka that a sandbox can run."""
    from kgroups.sandbox import VERSIONS

    return _beginning(VERSIONS, prefix)


def list_words(words: Iterable[str], prefix: str) -> list[str]:
    """Return a comma-separated list, continued with each word that it does not contain yet."""
    before, comma, last = prefix.rpartition(",")
    given = before.split(",")
    fitting = (word for word in words if word.casefold().startswith(last.casefold()) and word not in given)
    return [f"{before}{comma}{word}" for word in fitting]


def _beginning(words: Iterable[str], prefix: str) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def view_of_line(context: click.Context) -> View | None:
    """Return the view of an incomplete command line; ``None`` if its columns are known only from its result."""
    params, name = context.params, context.command.name or ""
    match context.parent and context.parent.command.name:
        case "history":
            # click does not parse arguments if the last option lacks its value
            return _table_view(params.get("table") or (context.args[0] if name == "show" and context.args else name))
        case "config" | "profile" | "settings" as parent:
            return _fixed_view(parent, name)
        case "snapshot":
            return snapshot_view(name, params)
    match name:
        case "list":
            from kgroups.render.list_by_cluster import LIST_BY_CLUSTER
            from kgroups.render.list_view import LIST

            return LIST_BY_CLUSTER if params.get("by") == "cluster" else LIST
        case "describe":
            return _described_view(params)
        case "lag":
            from kgroups.render.lag_views import CLUSTER_LAG, LAG_VIEWS

            by: str = params.get("by") or "group"
            of_lag: View = LAG_VIEWS.get(by, CLUSTER_LAG)
            return of_lag
        case "reset-offsets" | "delete-offsets" | "delete" | "remove-members":
            from kgroups.render import act_views

            found: View = getattr(act_views, name.replace("-", "_").upper())
            return found
        case "diff":
            return snapshot_view(name, params)
        case "schema":
            from kgroups.render.schema_view import SCHEMAS

            return SCHEMAS
    return None


def _fixed_view(parent: str, name: str) -> View:
    """Return the view of a subcommand that has only one."""
    if parent == "settings":
        from kgroups.render.settings_views import VIEWS

        return VIEWS[name]
    from kgroups.render.check_view import CHECK, PROFILE, PROFILES, SETTINGS

    if parent == "config":
        return CHECK if name == "check" else SETTINGS
    return PROFILES if name == "list" else PROFILE


def snapshot_view(name: str, params: dict[str, Any]) -> View:
    """Return the view of a command of ``kgroups snapshot``, or of ``kgroups diff``."""
    from kgroups.render import act_views, member_views, offset_view, snapshot_views, summary_view

    if name == "restore":
        return act_views.RESET_OFFSETS
    if name == "diff":
        return snapshot_views.DIFF
    by_option = {
        "groups": summary_view.SUMMARY,
        "offsets": offset_view.OFFSETS,
        "members": member_views.MEMBERS,
        "configs": snapshot_views.CONFIGS,
    }
    return next((view for option, view in by_option.items() if params.get(option)), snapshot_views.SNAPSHOT)


def _described_view(params: dict[str, Any]) -> View:
    from kgroups.render import member_views, offset_view, summary_view, topology_views

    if params.get("deep"):
        from kgroups.render.deep_views import DEEP_VIEWS

        return DEEP_VIEWS[next((name for name in ("members", "state") if params.get(name)), "offsets")]
    by_option = {
        "members": member_views.MEMBERS,
        "state": member_views.STATE,
        "topology": topology_views.TOPOLOGY,
        "summary": summary_view.SUMMARY,
        "all_views": summary_view.ALL_VIEWS,
    }
    return next((view for option, view in by_option.items() if params.get(option)), offset_view.OFFSETS)


def _table_view(table: str) -> View | None:
    from kgroups.history.contracts import TABLES
    from kgroups.history.verify.result import Check
    from kgroups.render.views import view_of

    if table not in TABLES and table != "test":
        return None
    names = Check._fields if table == "test" else [column.name for column in TABLES[table].columns]
    return view_of(table, ((name, False) for name in names))
