"""Show and test the connection settings.

Settings come from flags, environment variables, the profile, and the configuration file.
"""

from __future__ import annotations

from ..frame.command import Command, CommandGroup, Shown
from ..frame.options import explained_connection_options, output_options

_check = Command(
    "check",
    """Test the connection to each broker, step by step.

    Shows the effective settings, with secrets masked. Then tests, for each bootstrap server and for each broker at its
    advertised address: DNS, TCP, TLS, ApiVersions, SASL, Metadata. Finally shows the permissions of the principal. A
    failed step comes with a fix; the steps after it are skipped.

    Exit codes: 0 every step succeeded, 1 a step failed, 2 the configuration is invalid.
    """,
    body="kgroups.cli.config:check",
    options=(
        output_options,
        explained_connection_options,
    ),
    examples=(
        ("Test the connection to each broker", "kgroups config check -b localhost:9092"),
        ("Test a profile", "kgroups config check --profile prod"),
    ),
    exits=(
        ("0", "Every step succeeded."),
        ("1", "A step failed."),
        ("2", "The configuration or the usage is invalid."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
        ("141", "The reader of the pipe has exited."),
    ),
    views=(Shown("kgroups.render.check_view:CHECK"),),
)

_show = Command(
    "show",
    """Show each setting, its source, and its effect.

    Secrets are masked. No broker is contacted.
    """,
    body="kgroups.cli.config:show_settings",
    options=(
        output_options,
        explained_connection_options,
    ),
    examples=(
        ("Show the effective settings", "kgroups config show"),
        ("Show those of a file", "kgroups config show --command-config client.properties"),
    ),
    views=(Shown("kgroups.render.check_view:SETTINGS"),),
)

command = CommandGroup(
    "config",
    __doc__,
    (
        _check,
        _show,
    ),
    page="connection.md",
)
