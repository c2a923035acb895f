"""Serve read-only tools to language models (MCP).

Speaks the Model Context Protocol on standard input and output; the program that uses the tools starts this command.
The tools list, describe, explain, and check groups, show their lag, plan resets and deletions without executing
them, and query the history in --store with SQL. None of them changes anything.

The clusters, credentials, and the store are those of the options. A client can choose among several profiles, and
nothing else. --timeout and --broker-timeout apply to each call.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.options import fleet_options

STORE_ENV = "KGROUPS_STORE"

command = Command(
    "mcp",
    __doc__,
    body="kgroups.mcp.run:mcp",
    options=(
        click.option(
            "--store",
            metavar="DIR",
            envvar=STORE_ENV,
            help=f"Store of history to query: a directory or a URL, as for kgroups history.  [env: {STORE_ENV}]",
        ),
        click.option(
            "--max-rows",
            type=click.IntRange(1, 100_000),
            metavar="N",
            default=500,
            show_default=True,
            help="Maximum number of rows of a result.",
        ),
        click.option(
            "--max-bytes",
            type=click.IntRange(2_000, 100_000_000),
            metavar="N",
            default=200_000,
            show_default=True,
            help="Maximum size of a result.",
        ),
        click.option(
            "--show-records",
            is_flag=True,
            help="Let clients see the start of the key and of the value of records that a group does not get past.",
        ),
        fleet_options,
    ),
    examples=(
        ("Serve the groups of one cluster", "kgroups mcp -b localhost:9092"),
        ("Serve several clusters, and the history in a store", "kgroups mcp --profile 'eu-*' --store history"),
    ),
    sections={"Server": "--max-rows --max-bytes --show-records"},
    page="mcp.md",
)
