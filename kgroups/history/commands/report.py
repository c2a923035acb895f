"""Write a report in HTML.

One file with charts that works offline: problems, lag over time, rebalances, groups by topic.
"""

from __future__ import annotations

from pathlib import Path

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.deprecated_options import deprecated_option

from ..run.options import (
    Ago,
    clusters_option,
    engine_options,
    need_queries,
    query_engine_option,
    rule_option,
    until_option,
)

command = Command(
    "report",
    __doc__,
    body="kgroups.history.run.report:report",
    check=need_queries,
    options=(
        clusters_option("Write a report on each cluster of the store; its ID is added to the name of the FILE."),
        click.option(
            "--since",
            type=Ago(),
            default="24h",
            show_default=True,
            metavar="TIME",
            help="Start time: an age (2h, 7d), or a time in ISO 8601.",
        ),
        until_option,
        click.option(
            "--file",
            type=click.Path(dir_okay=False, path_type=Path),
            default="report.html",
            show_default=True,
            metavar="FILE",
            help="File to write. An existing report is replaced.",
        ),
        deprecated_option(
            "-o", "--output", "earlier", replacement="--file", type=click.Path(dir_okay=False, path_type=Path)
        ),
        click.option("--force", is_flag=True, help="Replace an existing file even if it is not a report."),
        click.option(
            "--migration",
            "verdicts",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Add which groups can move to the consumer protocol (KIP-848): the output of kgroups explain "
            "--all-groups --migration -o json. Without it, that is unknown.",
        ),
        rule_option,
        query_engine_option,
        engine_options,
    ),
    examples=(
        ("Write a report of a week", "kgroups history report --store history --since 7d --file report.html"),
        ("Replace an older report", "kgroups history report --store history --file report.html --force"),
    ),
    sections={"Output": "--file --force"},
)
