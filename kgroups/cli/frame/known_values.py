"""Shell completion of values that are known without a cluster: formats, columns, states, tables, and sandboxes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from .command import Command

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
    return context.command.view_of(context) if isinstance(context.command, Command) else _view_by_name(context)


def _view_by_name(context: click.Context) -> View | None:
    params, name = context.params, context.command.name or ""
    if context.parent and context.parent.command.name == "history":
        # click does not parse arguments if the last option lacks its value
        return _table_view(params.get("table") or (context.args[0] if name == "show" and context.args else name))
    return None


def _table_view(table: str) -> View | None:
    from kgroups.history.contracts import TABLES
    from kgroups.history.verify.result import Check
    from kgroups.render.views import view_of

    if table not in TABLES and table != "test":
        return None
    names = Check._fields if table == "test" else [column.name for column in TABLES[table].columns]
    return view_of(table, ((name, False) for name in names))
