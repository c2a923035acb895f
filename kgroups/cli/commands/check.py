"""Check groups against rules, for CI and monitoring.

Checks the selected groups; with only --rules, the groups that the rules name. A named group must exist, in each
cluster if there are several.

Exit codes, as for monitoring plugins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN (a lag is unknown, a broker did
not respond, or an option is invalid).

A limit is one number, above which the result is CRITICAL, or two: WARNING,CRITICAL. --trend samples the groups
several times and applies Burrow's rules: WARN (the lag only grows) is WARNING; STOP (lag, and no commits),
STALL (lag, and the same offset committed again) and REWIND (the offset decreased) are CRITICAL. The first three
require an unread record, which is read from the log: transaction markers alone are not lag.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgroups.model.health.check import Check
from kgroups.model.health.judge import CHECKS

from ..frame.command import Command, Decorator, OptionGroup
from ..frame.group_options import checked_group_options
from ..frame.lazy_command import resolve
from ..frame.options import Duration, isolation_option, position_options

EXIT_UNKNOWN = 3


EXITS = (
    ("0", "OK."),
    ("1", "WARNING."),
    ("2", "CRITICAL."),
    ("3", "UNKNOWN: also invalid usage or configuration, and no response."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
    ("141", "The reader of the pipe has exited."),
)


class Verdict(Command):
    """A command with the exit codes of monitoring plugins: any error that prevents a result is UNKNOWN, exit code 3."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context; invalid usage has the exit code of UNKNOWN."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            setattr(error, "exit_code", EXIT_UNKNOWN)  # noqa: B010  # of the instance, not of the class
            raise


class Plugin(Verdict):
    """The command ``check``."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or check the syntax of rules files."""
        return resolve("kgroups.cli.check.plugin:invoke")(ctx, super().invoke)


def _option(check: Check) -> Decorator:
    """Return the option of a check; its parameter has the name of the field."""
    flag = check.flag
    options: dict[str, Any] = {"help": flag.help, "metavar": flag.metavar, "multiple": flag.repeated}
    if flag.kind is int:
        options["type"] = click.IntRange(0)
    if flag.metavar is None:
        options = {"help": flag.help, "is_flag": True}
    return click.option(f"--{check.key}", check.field, **options)


command = Plugin(
    "check",
    __doc__,
    body="kgroups.cli.check.command:check",
    options=(
        checked_group_options,
        OptionGroup("limits", tuple(map(_option, CHECKS)), "kgroups.cli.check.command:limits_of"),
        click.option(
            "--rules", type=click.Path(path_type=Path), metavar="FILE", help="TOML file with rules for groups."
        ),
        click.option(
            "--window", type=Duration(), default="30s", show_default=True, help="How long --trend observes the groups."
        ),
        click.option(
            "--samples",
            type=click.IntRange(2, 1000),
            metavar="N",
            default=3,
            show_default=True,
            help="Number of samples --trend takes in that time.",
        ),
        click.option("--wait", type=Duration(), help="Repeat until every check passes, for at most this long."),
        click.option(
            "--interval", type=Duration(), default="2s", show_default=True, help="Time between two checks of --wait."
        ),
        click.option(
            "-o",
            "--output",
            type=click.Choice(["text", "json", "junit", "openmetrics"]),
            default="text",
            show_default=True,
            help="text: the output of a monitoring plugin, with performance data.",
        ),
        click.option(
            "--junit",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Also write the result to a file, as JUnit XML.",
        ),
        click.option("--github", is_flag=True, help="Also write annotations and the job summary of GitHub Actions."),
        click.option(
            "--fail-on",
            type=click.Choice(["warning", "critical"]),
            default="warning",
            show_default=True,
            help="critical: exit with 0 if the worst result is WARNING.",
        ),
        click.option(
            "--lint",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Only check the syntax of rules files, without a cluster; arguments are further files.",
        ),
        click.option("-v", "--verbose", is_flag=True, help="On a terminal, also list the checks that passed."),
        isolation_option,
        position_options,
    ),
    examples=(
        ("Fail if the lag of a group exceeds a limit", "kgroups check orders --max-lag 1000"),
        ("Wait for the members of a deployment", "kgroups check orders --min-members 3 --wait 2m"),
        ("Check by a rules file, with a report for CI", "kgroups check --rules rules.toml --junit report.xml"),
    ),
    sections={
        "Checks": f"{' '.join(f'--{each.key}' for each in CHECKS)} --rules --window --samples --wait --interval --lint "
        "--isolation",
        "Output": "--junit --github --fail-on --verbose",
    },
    exits=EXITS,
    page="check.md",
)
