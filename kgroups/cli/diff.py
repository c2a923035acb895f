"""``kgroups diff``."""

from __future__ import annotations

import os
from pathlib import Path

from kgroups.config.load import load_profile
from kgroups.config.profiles import read_profiles
from kgroups.errors import UsageError
from kgroups.model.shell import group_words

from .frame.options import SideOptions
from .frame.output import Shape
from .frame.selected_groups import GroupOptions
from .query.comparison import Side, file_side, show_differences


def diff(options: SideOptions, shape: Shape, only: tuple[str, ...], chosen: GroupOptions, a: str, b: str | None) -> int:
    """Run ``kgroups diff``; return the exit code."""
    if b is None:
        first, second = _side(a, options, a), _connected(a, options)
    elif options.selected:
        raise UsageError(
            f"{options.selected} selects the cluster to compare with {a!r}, and {b!r} is B; omit one of them",
            hint="to select groups, use --group or --regex",
        )
    else:
        first, second = (_side(name, options, a, b) for name in (a, b))
    return show_differences((first, second), shape, only, chosen, debug=options.debug)


def _connected(a: str, options: SideOptions) -> Side:
    """Return the cluster of the connection options, or of the environment and the default profile.

    :raises UsageError: if a cluster would be compared with the default one.
    """
    if a in read_profiles(os.environ).tables and not options.selected:
        raise UsageError(f"{a!r} is a profile; with one argument, a file is compared with the cluster as it is now")
    settings = options.connect().settings
    return Side(settings.bootstrap_servers, settings=settings)


def _side(name: str, options: SideOptions, *pair: str) -> Side:
    """Return the state that an argument names.

    :param pair: both arguments, which may be meant as groups.

    :raises UsageError: if there is no such profile or file, or both.
    """
    path = Path(name)
    is_profile = name in read_profiles(os.environ).tables
    if is_profile and path.exists():
        raise UsageError(f"{name!r} is a profile and a file; for the file, use {os.path.join('.', name)}")  # noqa: PTH118
    if not is_profile:
        if not path.exists() and os.sep not in name:
            raise UsageError(
                f"{name!r} is not a profile or a file; the profiles: kgroups profile list",
                hint=f"to see groups next to each other: kgroups describe {' '.join(map(group_words, pair))}",
            )
        return file_side(path)
    flags = options.flags._replace(profile=name)
    return Side(name, settings=load_profile(flags, os.environ).settings)
