"""Check that groups are at the same records on two clusters.

A is the cluster on which the groups are, or a snapshot saved with --with-records; B is the cluster to which the
records are copied. For each group and partition, finds the record on B that the group would read next on A, and
compares the committed offset on B with it: same, behind (records are read again), ahead (records are lost), or
unknown, as where neither has a committed offset and records may be unread.

Exit codes, as of kgroups check: 0 all same, 1 some behind, 2 some ahead, 3 some unknown and none ahead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..frame.command import Shown
from ..frame.group_options import plain_group_options
from ..frame.lazy_command import resolve
from ..frame.options import output_options, side_connection
from ._matching_options import matching_options
from .check import EXITS, Verdict


class Parity(Verdict):
    """The command ``parity``."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that prevents a result is UNKNOWN."""
        return resolve("kgroups.cli.parity:invoke")(super().invoke, ctx)


command = Parity(
    "parity",
    __doc__,
    body="kgroups.cli.parity:parity",
    options=(
        click.argument("a"),
        click.argument("b"),
        plain_group_options,
        matching_options,
        click.option(
            "--junit",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Also write the result to a file, as JUnit XML.",
        ),
        output_options,
        side_connection,
    ),
    examples=(
        ("Compare all groups of two clusters, by their profiles", "kgroups parity east west"),
        ("Fail a job unless a group is at the same record", "kgroups parity east west orders --junit parity.xml"),
    ),
    sections={"Output": "--junit"},
    exits=EXITS,
    views=(Shown("kgroups.render.translation_views:PARITY"),),
    page="move-groups.md",
)
