"""``kgroups diff``."""

from __future__ import annotations

import os
from pathlib import Path

from kgroups.config.flags import Flags
from kgroups.config.load import load_profile
from kgroups.config.profiles import read_profiles
from kgroups.errors import UsageError

from .frame.options import Limits
from .frame.output import Shape
from .frame.selected_groups import GroupOptions
from .query.comparison import Side, file_side, show_differences


def diff(limits: Limits, shape: Shape, only: tuple[str, ...], chosen: GroupOptions, a: str, b: str) -> int:
    """Run ``kgroups diff``; return the exit code."""
    first, second = (_side(name, limits) for name in (a, b))
    return show_differences((first, second), shape, only, chosen, debug=limits.debug)


def _side(name: str, limits: Limits) -> Side:
    """Return the state that an argument names.

    :raises UsageError: if there is no such profile or file, or both.
    """
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
