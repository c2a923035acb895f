"""Shell completion of values that are known without a cluster: formats, columns, states, and types."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from kgroups.model.groups import GroupState, GroupType
from kgroups.render.output import FORMATS
from kgroups.render.views import View

from .command import Command


def formats(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the values of ``--output``."""
    return beginning(("auto", "markdown", *FORMATS), prefix)


def graph_formats(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the values of ``--output`` of a command that also writes a graph."""
    return beginning(("auto", "dot", "markdown", *FORMATS), prefix)


def columns(context: click.Context, _: click.Parameter, prefix: str) -> list[CompletionItem[str]]:
    """Return the next column of a comma-separated list, of the view that the command line selects."""
    view = view_of_line(context)
    headers = {column.key: column.header for column in view.columns} if view else {}
    return [CompletionItem(word, help=headers[word.rpartition(",")[2]]) for word in list_words(headers, prefix)]


def states(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the next state of a comma-separated list."""
    return list_words(GroupState.ALL, prefix)


def types(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the next group type of a comma-separated list."""
    return list_words([name.lower() for name in GroupType.SHOWN], prefix)


def files(_: click.Context, __: click.Parameter, prefix: str) -> list[CompletionItem[str]]:
    """Let the shell complete a path."""
    return [CompletionItem(prefix, "file")]


def list_words(words: Iterable[str], prefix: str) -> list[str]:
    """Return a comma-separated list, continued with each word that it does not contain yet."""
    before, comma, last = prefix.rpartition(",")
    given = before.split(",")
    fitting = (word for word in words if word.casefold().startswith(last.casefold()) and word not in given)
    return [f"{before}{comma}{word}" for word in fitting]


def beginning(words: Iterable[str], prefix: str) -> list[str]:
    """Return the words with this prefix."""
    return [word for word in words if word.startswith(prefix)]


def view_of_line(context: click.Context) -> View | None:
    """Return the view of an incomplete command line; ``None`` if its columns are known only from its result."""
    return context.command.view_of(context) if isinstance(context.command, Command) else None
