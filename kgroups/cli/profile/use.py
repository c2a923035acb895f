"""``kgroups profile use``."""

from __future__ import annotations

import os

from kgroups.config.default_profile import set_default
from kgroups.config.profiles import read_profiles

from ..frame.exit_status import print_to_stderr


def use(name: str) -> int:
    """Run ``kgroups profile use``; return the exit code."""
    profiles = read_profiles(os.environ)
    profiles.profile(name, "profile use")
    set_default(profiles, name)
    print_to_stderr(f"{name} is now the default profile")
    return 0
