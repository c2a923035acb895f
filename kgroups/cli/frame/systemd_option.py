"""Options that print a unit for systemd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def systemd_option(option: str, unit: str, help_text: str) -> Callable[[F], F]:
    """Add an option that prints a unit of ``kgroups/exporter/monitoring``, and exits; nothing else is then required."""

    def print_unit(context: click.Context, _: click.Parameter, value: bool) -> None:
        if not value or context.resilient_parsing:
            return
        from importlib.resources import files

        click.echo(files("kgroups.exporter.monitoring").joinpath(unit).read_text(encoding="utf-8"), nl=False)
        context.exit()

    return click.option(option, is_flag=True, is_eager=True, expose_value=False, callback=print_unit, help=help_text)
