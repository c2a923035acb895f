"""``kgroups profile``: the named clusters of the user's config file."""

from __future__ import annotations

import click

from ..frame.lazy_command import Later, add_later


@click.group("profile")
def profile() -> None:
    """List, show and choose named clusters.

    They are tables of ~/.config/kgroups/config.toml, or of the file that KGROUPS_CONFIG names: [profiles.NAME] with
    bootstrap, command-config, timeout, broker-timeout, transport, client-id, max-requests-per-second and properties.
    The default is taken where neither a flag nor the environment says which cluster.
    """


add_later(
    profile,
    Later("list", "profile.show:list_profiles", "List the clusters that have names."),
    Later("show", "profile.show:show_profile", "Show what a profile says, secrets masked."),
    Later("use", "profile.use:use", "Make a profile the default."),
)
