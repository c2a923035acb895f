"""``kgroups check``."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from kgroups.admin.query.pattern import Glob
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import ClusterUnreachable, DeadlineExceeded, UsageError
from kgroups.model.counts import count
from kgroups.model.groups import is_glob
from kgroups.model.health.check import Check
from kgroups.model.health.judge import CHECKS
from kgroups.model.health.limits import Limits
from kgroups.model.health.rules import Rule
from kgroups.model.health.sampling import Sampling
from kgroups.model.offsets import Isolation
from kgroups.render.health import write_report

from ..frame.exit_status import enable_gc, is_quiet, print_to_stderr
from ..frame.options import ConnectionOptions, split_values
from ..frame.selected_groups import GroupOptions
from .checker import Checker
from .reports import write_files
from .rules_file import read_rules, with_known_clusters


def check(
    connection: ConnectionOptions,
    chosen: GroupOptions,
    limits: Limits,
    rules: Path | None,
    window: float,
    samples: int,
    wait: float | None,
    interval: float,
    output: str,
    junit: Path | None,
    github: bool,
    fail_on: str,
    lint: Path | None,
    verbose: bool,
    isolation: str,
) -> int:
    """Run ``kgroups check``; return the exit code."""
    if wait is not None:
        enable_gc()
    clusters = connection.fleet.names if connection.fleet else (connection.profile,)
    more = with_known_clusters(read_rules(rules), rules, clusters, os.environ)
    selections = _selections(chosen, more, clusters)
    sampling = partial(Sampling, limits, more, window, samples, every=not chosen.any_given or chosen.is_everything)
    checker = Checker(connection, selections, Isolation[isolation.upper()], sampling, partial(_report_progress, ""))
    passing = (0, 1) if fail_on == "critical" else (0,)
    until = time.monotonic() + (wait or 0)
    reported = ""
    while True:
        last = time.monotonic() >= until
        try:
            report = checker.report()
        except (ClusterUnreachable, DeadlineExceeded):
            if wait is None or last:
                raise
        else:
            if report.severity in passing or last:
                break
            reported = _report_progress(reported, f"{report.severity.name}: {count(len(report.bad), 'check')} not OK")
        time.sleep(min(interval, max(0.0, until - time.monotonic())))  # the last check is at the end of --wait

    cluster_id = None if connection.fleet else checker.ids.get(connection.profile)
    write_report(report, output, sys.stdout, cluster_id, verbose=verbose)
    write_files(report, junit, github=github)
    return 0 if report.severity in passing else int(report.severity)


def _report_progress(reported: str, text: str) -> str:
    """Print a note that the command still waits, if it is not the last one; return it.

    Only on a terminal and in CI, whose variable is ``CI``: a monitoring system may take stderr for an error.
    """
    if text != reported and not is_quiet() and (sys.stderr.isatty() or os.environ.get("CI")):
        print_to_stderr(f"kgroups: note: waiting: {text}")
    return text


def _selections(
    chosen: GroupOptions, rules: tuple[Rule, ...], clusters: tuple[str, ...]
) -> dict[str, Selection | None]:
    """Return the groups to check in each cluster; ``None`` if only rules select groups, and none is about the cluster.

    :raises UsageError: if that is so for all clusters.
    """
    if chosen.any_given or not rules:
        return dict.fromkeys(clusters, chosen.selection())
    found = {cluster: _named(tuple(rule for rule in rules if rule.concerns(cluster))) for cluster in clusters}
    if not any(found.values()):
        raise UsageError(f"--rules: no rule is for {' or '.join(clusters)}; see the key clusters of each rule")
    return found


def _named(rules: tuple[Rule, ...]) -> Selection | None:
    """Return the groups that the rules name."""
    if not rules:
        return None

    globs = [glob for rule in rules for glob in rule.groups if is_glob(glob)]
    names = tuple(dict.fromkeys(name for rule in rules for name in rule.names))
    return Selection(names, Glob(*globs, literal=True) if globs else None)


def limits_of(**values: Any) -> Limits:
    """Return the expectations.

    :raises UsageError: if a value is invalid, or if options conflict.
    """
    if values["members"] is not None and values["min_members"] is not None:
        raise UsageError("--members and --min-members are mutually exclusive")
    values["states"] = list(split_values(values["states"]))
    given = {
        check.field: _read(check, value) for check in CHECKS if (value := values[check.field]) not in (None, (), [])
    }
    return Limits(**given)


def _read(check: Check, value: Any) -> Any:
    """Parse the value of an option.

    :raises UsageError: if it is invalid.
    """
    try:
        return (check.read_flag or check.read)(value)
    except ValueError as error:
        raise UsageError(f"--{check.key}: {error}") from None
