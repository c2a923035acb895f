"""The options of changes: their targets, dry run or execution, safety checks, and the undo file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from ..frame.command import OptionGroup
from ..frame.group_options import complete_group, complete_topic
from ..frame.options import Duration

confirmation_options = OptionGroup(
    "confirmation",
    (
        click.option("--dry-run", is_flag=True, help="Show the plan and change nothing.  [default]"),
        click.option("--execute", is_flag=True, help="Apply the changes, after a confirmation."),
        click.option("-y", "--yes", is_flag=True, help="Skip the confirmation."),
    ),
    "kgroups.cli.change.confirmation:confirmation_of",
)
"""``confirmation`` is a :class:`kgroups.cli.change.confirmation.Confirmation`."""

safety_options = OptionGroup(
    "safety",
    (
        click.option(
            "--force",
            is_flag=True,
            help="Also change groups for which a client that is not a member still commits, such as a consumer that "
            "uses assign(), or Flink.",
        ),
        click.option(
            "--commit-window",
            type=Duration(),
            help="Search the commits of this period for such clients, which commit at least twice in "
            "that time. Waiting for their next commit takes at most this long, in addition to --timeout.  "
            "[default: 90s]",
        ),
        click.option(
            "--when-empty",
            type=Duration(),
            help="Wait for at most this long until all members of all groups have left, then apply the changes at "
            "once. If they do not leave, or return first, nothing is changed.",
        ),
    ),
    "kgroups.cli.change.safety:safety_of",
)
"""``safety`` is a :class:`kgroups.cli.change.safety.Safety`."""

undo_option = click.option(
    "--undo-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File in which --execute saves the old offsets; never overwritten. kgroups undo "
    "restores them.  [default: kgroups-undo-GROUP-TIME.json here]",
)
"""``undo_file`` is the path for :class:`kgroups.cli.change.undo_file.UndoFile`."""

settings_undo_option = click.option(
    "--undo-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File in which --execute saves the old settings; never overwritten. kgroups undo "
    "restores them.  [default: kgroups-undo-GROUP-TIME.json here]",
)

all_internal_topics_option = click.option(
    "--delete-all-internal-topics",
    "all_internal",
    is_flag=True,
    help="Also delete the changelog and repartition topics of streams groups. This cannot be undone.",
)
internal_topic_option = click.option(
    "--delete-internal-topic",
    "internal",
    multiple=True,
    metavar="TOPIC",
    help="Also delete this internal topic of a streams group. Repeatable. This cannot be undone.",
    shell_complete=complete_topic,
)


class PlainInt(click.IntRange):
    """An integer of ASCII digits, as in plan files and Kafka's tools; ``1_000`` and other digits are rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not re.fullmatch(r"[+-]?[0-9]+", value):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)

    def _describe_range(self) -> str:
        # Without bounds, click would show [x<=None] in the help.
        return "" if self.min is None and self.max is None else super()._describe_range()


MOST_SKIPPED = 1000
"""Records of each partition that one reset can skip: all are in memory."""

_SCENARIOS = (
    click.option("--to-earliest", is_flag=True, help="Reset to the log start offset."),
    click.option("--to-latest", is_flag=True, help="Reset to the log end offset."),
    click.option(
        "--to-current",
        is_flag=True,
        help="Keep the current offset; partitions without a committed offset are reset to the log end.",
    ),
    click.option("--to-offset", type=PlainInt(0), metavar="N", help="Reset to this offset."),
    click.option(
        "--shift-by",
        type=PlainInt(),
        metavar="N",
        help="Shift by N records; a negative N shifts backwards.",
    ),
    click.option(
        "--skip-records",
        type=PlainInt(1, MOST_SKIPPED),
        metavar="N",
        help="Skip the next N records that a consumer receives; --execute saves their bytes next to the undo file.",
    ),
    click.option(
        "--to-datetime",
        metavar="TIME",
        help="Reset to the first record at or after this time: -1h, 2026-01-31, 2026-01-31T12:00:00.500, followed by "
        "Z or +01:00 (default: UTC, as in Kafka's tool), or milliseconds since 1970.",
    ),
    click.option(
        "--by-duration",
        metavar="DURATION",
        help="Reset to the first record younger than this duration: 90m, 2h, 7d, or in ISO 8601: P1DT2H, PT90M.",
    ),
    click.option(
        "--from-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read target offsets from a file: CSV from --export, a plan in JSON, or an undo file; - is "
        "standard input.",
    ),
    click.option(
        "--to-group",
        metavar="GROUP",
        help="Copy the committed offsets of another group.",
        shell_complete=complete_group,
    ),
)
_SCOPE = (
    click.option(
        "--topic",
        "topics",
        multiple=True,
        metavar="TOPIC[:0,2-5]",
        help="Reset all partitions of a topic, or some. Repeatable.",
        shell_complete=complete_topic,
    ),
    click.option("--all-topics", is_flag=True, help="Reset all partitions with a committed offset."),
)


target_options = OptionGroup("target", (*_SCOPE, *_SCENARIOS), "kgroups.cli.change.reset_request:target_of")
"""``target`` is a :class:`kgroups.cli.change.reset_request.Target`."""
