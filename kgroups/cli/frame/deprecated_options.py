"""Deprecated options: accepted, not in the help, with a note that names the replacement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from kgroups.deprecation import message_once

from .exit_status import is_quiet, print_to_stderr

F = TypeVar("F", bound=Callable[..., Any])


class DeprecatedOption(click.Option):
    """An option that another one replaces; the command still gets its value."""

    def __init__(self, names: Sequence[str], replacement: str, **attributes: Any) -> None:
        super().__init__(names, **{**attributes, "hidden": True, "help": f"Deprecated; use {replacement}."})
        self.replacement = replacement

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        if self.name in opts and not ctx.resilient_parsing and not is_quiet():
            message = message_once(f"{self.opts[-1]} of {ctx.command_path}", self.replacement)
            if message:
                print_to_stderr(f"kgroups: note: {message}")
        return super().handle_parse_result(ctx, opts, args)


def deprecated_option(*names: str, replacement: str, **attributes: Any) -> Callable[[F], F]:
    """Add a deprecated option.

    :param replacement: the option to use instead.
    :param attributes: as of :func:`click.option`.
    """
    return click.option(*names, cls=DeprecatedOption, replacement=replacement, **attributes)
