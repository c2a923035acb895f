"""Run a local Kafka cluster for experiments."""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command, CommandGroup
from kgroups.cli.frame.options import Number, completer

_name = click.option(
    "--name",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Name of the sandbox.",
    shell_complete=completer("kgroups.sandbox.command.run:complete_name"),
)


_up = Command(
    "up",
    """Start brokers on ports of this machine.

    The first start of a version downloads its jars, with Maven or PySpark's Ivy.
    """,
    body="kgroups.sandbox.command.run:up",
    options=(
        click.option(
            "--brokers", type=click.IntRange(1, 3), metavar="N", default=1, show_default=True, help="Number of brokers."
        ),
        click.option(
            "--version",
            "kafka",
            metavar="VERSION",
            help="Kafka version.  [default: 4.4.0]",
            shell_complete=completer("kgroups.sandbox.command.run:complete_version"),
        ),
        click.option(
            "--name",
            default="default",
            show_default=True,
            metavar="NAME",
            help="Name of the sandbox; several can run at the same time.",
        ),
        click.option(
            "--security",
            is_flag=True,
            help="Enable TLS, SASL, and ACLs; write a client.properties for each authentication method.",
        ),
        click.option(
            "--user",
            "users",
            multiple=True,
            metavar="USER",
            help="With --security: add a user without any permission, to try ACLs. Repeatable.",
        ),
    ),
    examples=(
        ("Start one broker", "kgroups sandbox up"),
        ("Start three brokers of a version", "kgroups sandbox up --brokers 3 --version 3.9.1"),
        ("Start a broker with ACLs, and a user without permissions", "kgroups sandbox up --security --user ann"),
    ),
)

_env = Command(
    "env",
    """Print the lines that let another shell use a sandbox.

    \b
    eval "$(kgroups sandbox env)"
    """,
    body="kgroups.sandbox.command.run:env",
    options=(_name,),
    examples=(
        ("Use the sandbox in this shell", 'eval "$(kgroups sandbox env)"'),
        ("Print the lines for a sandbox", "kgroups sandbox env --name other"),
    ),
)

_down = Command(
    "down",
    """Stop a sandbox and delete its data.""",
    body="kgroups.sandbox.command.run:down",
    options=(
        _name,
        click.option("--all", "every", is_flag=True, help="All sandboxes of this user."),
    ),
    examples=(("Stop the sandbox", "kgroups sandbox down"), ("Stop all sandboxes", "kgroups sandbox down --all")),
)

_status = Command(
    "status",
    """Show running sandboxes, with names and addresses.""",
    body="kgroups.sandbox.command.run:status",
    options=(
        click.option(
            "--name",
            metavar="NAME",
            help="Only this sandbox.",
            shell_complete=completer("kgroups.sandbox.command.run:complete_name"),
        ),
    ),
    examples=(
        ("Show all sandboxes", "kgroups sandbox status"),
        ("Show one sandbox", "kgroups sandbox status --name other"),
    ),
)

_seed = Command(
    "seed",
    """Create example groups, whose members run until down.

    Without options: small consumer groups in every state. With --kind: share groups, Kafka Streams (requires a JDK), or
    Connect workers, in addition to existing groups. With --groups: thousands of consumer groups.
    """,
    body="kgroups.sandbox.command.run:seed",
    options=(
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            type=click.Choice(["share", "streams", "connect"]),
            help="Create only groups of this type, with Kafka's own programs. Repeatable.",
        ),
        click.option("--groups", type=click.IntRange(1, 99_999), metavar="N", help="Number of groups to create."),
        click.option(
            "--partitions",
            type=click.IntRange(1, 1_000),
            metavar="P",
            help="Number of partitions that each group commits.  [default: 9]",
        ),
        click.option(
            "--topics",
            type=click.IntRange(1, 1_000),
            metavar="T",
            help="Number of topics that the groups share.  [default: 10]",
        ),
        click.option(
            "--stable",
            type=Number(0, 1),
            metavar="FRACTION",
            help="Fraction of the groups that has a member.  [default: 0.5]",
        ),
        _name,
    ),
    examples=(
        ("Create groups in every state", "kgroups sandbox seed"),
        ("Add share groups", "kgroups sandbox seed --kind share"),
        ("Create a thousand groups", "kgroups sandbox seed --groups 1000"),
    ),
)

command = CommandGroup(
    "sandbox",
    __doc__,
    (
        _up,
        _env,
        _down,
        _status,
        _seed,
    ),
    page="sandbox.md",
)
