"""What a shell is offered when TAB is pressed: names from the cluster, in little time, or silently nothing.

Only names of plain characters are offered: who names a group may be a stranger, and what is offered ends up on a
command line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.config.settings import ClientSettings
    from kgroups.model.outcome import Outcome

PATIENCE = 1.5
"""Seconds for the cluster's answer; with the start of Python that is under two."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+@%-]*")


def complete(command: click.Command, variable: str, instruction: str) -> int:
    """Answers a shell, which has set the variable to the instruction.

    Whatever goes wrong, nothing is offered and nothing is said.
    """
    from click.shell_completion import shell_complete

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        try:
            return shell_complete(command, {}, "kgroups", variable, instruction)
        except Exception:
            return 1


def group_names(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Groups of the cluster that the rest of the command line names."""

    async def ask(admin: GroupAdmin) -> Outcome[Any]:
        from kgroups.admin.query.list_groups import EVERY_GROUP

        listed = await admin.list_groups(EVERY_GROUP)
        return listed.with_items(group.group_id for group in listed.items)

    named = context.params.get("names") or ()
    return [name for name in _asked(context, ask, begun) if name not in named]


def topic_names(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Topics of that cluster; internal ones when their underscores are typed."""
    import asyncio

    from kgroups.admin.query.list_topics import list_topics
    from kgroups.errors import KgroupsError

    try:
        topics = asyncio.run(list_topics(_settings(context)))
    except (KgroupsError, OSError):
        return []
    return offered((name for name in topics if begun.startswith("__") or not name.startswith("__")), begun)


def _asked(context: click.Context, ask: Callable[[GroupAdmin], Any], begun: str) -> list[str]:
    from kgroups.errors import KgroupsError

    from .run_query import put

    try:
        outcome, _ = put(_settings(context), ask, debug=False, quiet=True)
    except (KgroupsError, OSError):
        return []
    return offered(outcome.items, begun)


def offered(names: Iterable[str], begun: str) -> list[str]:
    """Those that begin so and are safe on a command line."""
    return sorted(name for name in names if name.startswith(begun) and _PLAIN.fullmatch(name))


def profile_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The named clusters of the user's config file."""
    from kgroups.config.profiles import read_profiles
    from kgroups.errors import KgroupsError

    try:
        return offered(read_profiles(os.environ).tables, begun)
    except KgroupsError:
        return []


def _settings(context: click.Context) -> ClientSettings:
    """As far as the command line says, where parsing does not complain."""
    from kgroups.config.flags import Flags
    from kgroups.config.load import load_settings

    said = context.params
    flags = Flags(
        said.get("bootstrap_server"),
        said.get("command_config"),
        tuple(said.get("overrides") or ()),
        said.get("profile"),
        timeout=PATIENCE,
        broker_timeout=PATIENCE,
    )
    return load_settings(flags, os.environ).settings
