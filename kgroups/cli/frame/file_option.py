"""Options that print a file: units for systemd, and alerts."""

from __future__ import annotations

from pkgutil import get_data

import click

from .command import Decorator


def file_option(option: str, file: str, help_text: str) -> Decorator:
    """Add an option that prints a file of ``kgroups/exporter/monitoring``, and exits; nothing else is then required."""

    def print_file(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            click.echo((get_data("kgroups.exporter.monitoring", file) or b"").decode(), nl=False)
            context.exit()

    return click.option(option, is_flag=True, is_eager=True, expose_value=False, callback=print_file, help=help_text)
