"""``kgroups profile``: the profiles of the configuration file."""

from __future__ import annotations

import click

from ..frame.lazy_command import LazyCommand, add_lazy_commands


@click.group("profile")
def profile() -> None:
    """Manage profiles, which are named clusters.

    Profiles are tables [profiles.NAME] in ~/.config/kgroups/config.toml, or in the file that KGROUPS_CONFIG names, with
    the keys bootstrap, command-config, timeout, broker-timeout, transport, client-id, max-requests-per-second, and
    properties. The default profile applies if neither flags nor environment variables name a cluster.
    """


add_lazy_commands(
    profile,
    LazyCommand("list", "profile.show:list_profiles", "List the profiles."),
    LazyCommand("show", "profile.show:show_profile", "Show a profile, with secrets masked."),
    LazyCommand("add", "profile.edit:add", "Add a profile."),
    LazyCommand("remove", "profile.edit:remove", "Remove a profile."),
    LazyCommand("rename", "profile.edit:rename", "Rename a profile."),
    LazyCommand("import", "profile.edit:import_profiles", "Import the clusters of kcl, kaf, rpk, or kafkactl."),
    LazyCommand("use", "profile.use:use", "Make a profile the default."),
)
