"""``kgroups diff``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from kgroups.errors import UsageError

from .frame.group_options import GroupOptions, plain_group_options
from .frame.lazy_command import Command
from .frame.options import Limits, limit_options, output_options
from .frame.run_query import Shape
from .query.comparison import Side, file_side, only_option, show_differences


@click.command("diff", cls=Command)
@click.argument("a")
@click.argument("b")
@plain_group_options
@only_option
@output_options
@limit_options
def diff(limits: Limits, shape: Shape, only: tuple[str, ...], chosen: GroupOptions, a: str, b: str) -> int:
    """Compare the groups of two clusters or snapshots.

    A and B are profiles, or files of kgroups snapshot save. Compares groups, types, states, members, dynamic
    configuration, offsets, and lag; by default of all groups. Exits with 0 if they are equal, and with 1 if anything
    differs or is unknown.
    """
    first, second = (_side(name, limits) for name in (a, b))
    return show_differences((first, second), shape, only, chosen, debug=limits.debug)


def _side(name: str, limits: Limits) -> Side:
    """Return the state that an argument names.

    :raises UsageError: if there is no such profile or file, or both.
    """
    from kgroups.config.flags import Flags
    from kgroups.config.load import load_profile
    from kgroups.config.profiles import read_profiles

    path = Path(name)
    is_profile = name in read_profiles(os.environ).tables
    if is_profile and path.exists():
        raise UsageError(f"{name!r} is a profile and a file; for the file, use {os.path.join('.', name)}")  # noqa: PTH118
    if not is_profile:
        if not path.exists() and os.sep not in name:
            raise UsageError(f"{name!r} is not a profile or a file; the profiles: kgroups profile list")
        return file_side(path)
    flags = Flags(profile=name, timeout=limits.timeout, broker_timeout=limits.broker_timeout)
    return Side(name, settings=load_profile(flags, os.environ).settings)
