"""``kgroups profile use``."""

from __future__ import annotations

import os

import click

from ..frame.exit_status import print_to_stderr
from ..frame.lazy_command import Command
from ..frame.options import complete_profile


@click.command("use", cls=Command)
@click.argument("name", shell_complete=complete_profile)
def use(name: str) -> int:
    """Make a profile the default.

    Changes one line of the configuration file.
    """
    from kgroups.config.default_profile import set_default
    from kgroups.config.profiles import read_profiles

    profiles = read_profiles(os.environ)
    profiles.profile(name, "profile use")
    set_default(profiles, name)
    print_to_stderr(f"{name} is now the default profile")
    return 0
