"""Manage profiles, which are named clusters.

Profiles are tables [profiles.NAME] in ~/.config/kgroups/config.toml, or in the file that KGROUPS_CONFIG names, with
the keys bootstrap, command-config, timeout, broker-timeout, transport, client-id, max-requests-per-second, and
properties. The default profile applies if neither flags nor environment variables name a cluster.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..frame.command import Command, CommandGroup, Shown
from ..frame.options import Duration, complete_profile, output_options, stored_connection_options

_list = Command(
    "list",
    """List the profiles.""",
    body="kgroups.cli.profile:list_profiles",
    options=(
        click.option(
            "--check",
            is_flag=True,
            help="Also connect to all clusters at the same time; show their IDs and count their groups.",
        ),
        click.option("--timeout", type=Duration(), help="With --check: time limit for each cluster.  [default: 30s]"),
        output_options,
    ),
    examples=(("List the profiles", "kgroups profile list"), ("List them as JSON", "kgroups profile list -o json")),
    views=(Shown("kgroups.render.check_view:PROFILES"),),
)

_show = Command(
    "show",
    """Show a profile, with secrets masked.

    Default: the profile that KGROUPS_PROFILE names, otherwise the default profile.
    """,
    body="kgroups.cli.profile:show_profile",
    options=(
        click.argument("name", required=False, shell_complete=complete_profile),
        output_options,
    ),
    examples=(
        ("Show the default profile", "kgroups profile show"),
        ("Show another profile", "kgroups profile show prod"),
    ),
    views=(Shown("kgroups.render.check_view:PROFILE"),),
)

_add = Command(
    "add",
    """Add a profile.

    Stores the connection options. For a password, give a reference, in quotes: '${env:NAME}', '${file:PATH}', or
    '${keyring:SERVICE/USER}'. It is resolved when the profile is used.
    """,
    body="kgroups.cli.profile:add",
    options=(
        click.argument("new", metavar="NAME"),
        click.option("--default", "as_default", is_flag=True, help="Make the profile the default."),
        click.option(
            "--allow-clear-text", is_flag=True, help="Store passwords in clear text, in a file with mode 600."
        ),
        stored_connection_options,
    ),
    examples=(
        ("Name a cluster", "kgroups profile add dev -b localhost:9092"),
        ("Name a cluster with a client configuration", "kgroups profile add prod --command-config prod.properties"),
        ("Take the password from a variable", "kgroups profile add test -b b1:9093 -X 'sasl.password=${env:PASSWORD}'"),
    ),
)

_remove = Command(
    "remove",
    """Remove a profile.

    Other lines and comments of the file do not change.
    """,
    body="kgroups.cli.profile:remove",
    options=(click.argument("name", shell_complete=complete_profile),),
    examples=(("Remove a profile", "kgroups profile remove dev"), ("Show what is left", "kgroups profile list")),
)

_rename = Command(
    "rename",
    """Rename a profile.

    If it is the default, it remains the default. Other lines and comments of the file do not change.
    """,
    body="kgroups.cli.profile:rename",
    options=(
        click.argument("old", shell_complete=complete_profile),
        click.argument("new"),
    ),
    examples=(
        ("Rename a profile", "kgroups profile rename dev test"),
        ("Show it by its new name", "kgroups profile show test"),
    ),
)

_import = Command(
    "import",
    """Import the clusters of kcl, kaf, rpk, or kafkactl.

    FILE is the tool's configuration file; by default, the one that the tool reads. If one of the clusters has the name
    of a profile, nothing is imported. Notes name each setting that is not imported. Passwords in clear text remain in
    clear text; each is named on stderr, and the file gets mode 600.
    """,
    body="kgroups.cli.profile:import_profiles",
    options=(
        click.argument("tool", type=click.Choice(("kcl", "kaf", "rpk", "kafkactl"))),
        click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False)),
        click.option("--only", multiple=True, metavar="NAME", help="Import only this cluster. Repeatable."),
    ),
    examples=(
        ("Import all clusters of rpk", "kgroups profile import rpk"),
        ("Import one cluster from a file of kaf", "kgroups profile import kaf kaf.yaml --only prod"),
    ),
)

_use = Command(
    "use",
    """Make a profile the default.

    Changes one line of the configuration file.
    """,
    body="kgroups.cli.profile:use",
    options=(click.argument("name", shell_complete=complete_profile),),
    examples=(
        ("Use a profile by default", "kgroups profile use prod"),
        ("Use a profile once, without a default", "kgroups list --profile prod"),
    ),
)

command = CommandGroup(
    "profile",
    __doc__,
    (
        _list,
        _show,
        _add,
        _remove,
        _rename,
        _import,
        _use,
    ),
    page="connection.md#named-clusters",
)
