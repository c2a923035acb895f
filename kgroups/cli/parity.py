"""``kgroups parity``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kgroups.admin.client import Client, WireOnly, wire_of
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.snapshot.file import read_snapshot
from kgroups.admin.translation.compare import compare, compare_with_snapshot
from kgroups.config.profiles import read_profiles
from kgroups.errors import KgroupsError, UsageError
from kgroups.model.health.findings import Finding
from kgroups.model.health.report import ANSWERED, Report, report_of
from kgroups.model.offsets import place_name
from kgroups.model.outcome import Outcome
from kgroups.model.severity import Severity
from kgroups.model.translation.parity import Compared, Verdict
from kgroups.net.cluster import Cluster
from kgroups.render.health.junit import write as write_junit
from kgroups.render.translation_views import PARITY

from .change.matching import Matching
from .change.plan_source import chosen_in_snapshot
from .commands.check import EXIT_UNKNOWN
from .frame.exit_status import print_to_stderr, system_error
from .frame.options import Side
from .frame.output import Shape, or_error_envelope, show
from .frame.run_query import open_for_command, run_query
from .frame.selected_groups import GroupOptions

CHECK = "parity"
"""The name of the check in JUnit XML."""


def invoke(run: Callable[[click.Context], Any], ctx: click.Context) -> Any:
    """Run the command; return the exit code, which is that of UNKNOWN if an error prevents a result."""
    try:
        return run(ctx)
    except KgroupsError as error:
        print_to_stderr(f"kgroups: error: {error}")
        if error.hint:
            print_to_stderr(f"kgroups: hint: {error.hint}")
    except BrokenPipeError:
        raise
    except OSError as error:
        print_to_stderr(f"kgroups: error: {system_error(error)}")
    return EXIT_UNKNOWN


def parity(
    side: Side, shape: Shape, chosen: GroupOptions, matching: Matching, junit: Path | None, a: str, b: str
) -> int:
    """Run ``kgroups parity``; return the exit code."""
    shape.check(PARITY)
    target = side.connect("B", b)
    selection = chosen.selection() if chosen.any_given else Selection(everything=True)
    if a not in read_profiles(os.environ).tables and ":" not in a and Path(a).exists():
        compared = _with_snapshot(Path(a), selection, matching)
    elif os.sep in a or a.endswith(".json"):
        raise UsageError(f"A: there is no snapshot {a}")
    else:
        compared = _with_cluster(side, a, selection, matching)
    outcome, cluster_id = or_error_envelope(
        shape, PARITY, lambda: run_query(target.settings, compared, debug=target.debug, side=target.side)
    )
    if not outcome.items and not outcome.failures:
        outcome = outcome.with_failures((), ("no committed offset was compared",))
    show(outcome, cluster_id, shape, PARITY)
    report = _report(outcome)
    if junit is not None:
        with junit.open("w", encoding="utf-8") as stream:
            write_junit(report, stream, cluster_id)
    return int(report.severity)


def _with_cluster(side: Side, name: str, selection: Selection, matching: Matching) -> Callable[[Client], Any]:
    source = side.connect("A", name)

    async def query(admin: Client) -> Outcome[Compared]:
        client, _ = await open_for_command(source.settings, debug=source.debug, side=source.side)
        try:
            return await compare(_wire(client), _wire(admin), matching.request(selection))
        finally:
            await client.close()

    return query


def _with_snapshot(file: Path, selection: Selection, matching: Matching) -> Callable[[Client], Any]:
    snapshot = read_snapshot(file)
    chosen = chosen_in_snapshot(snapshot, file, selection)
    snapshot = snapshot._replace(groups=tuple(each for each in snapshot.groups if each.group.group in chosen))

    async def query(admin: Client) -> Outcome[Compared]:
        return await compare_with_snapshot(snapshot, _wire(admin), matching.topic_map)

    return query


def _wire(client: Client) -> Cluster:
    return wire_of(client, WireOnly.TRANSLATION)


def _report(outcome: Outcome[Compared]) -> Report:
    # What could not be compared is unknown: only a record that would be lost is critical.
    findings = [
        *(_finding(each) for each in outcome.items),
        *(Finding(each.name, ANSWERED, Severity.UNKNOWN, each.message) for each in outcome.failures),
    ]
    return report_of(findings, (), int(time.time() * 1000), outcome.hidden_by)


def _finding(each: Compared) -> Finding:
    place = place_name(each.topic, each.partition)
    records = f" {each.records:,}" if each.records and each.verdict is not Verdict.SAME else ""
    text = f"{place}: {each.verdict}{records}" + (f": {each.note}" if each.note else "")
    return Finding(each.group, CHECK, Verdict(each.verdict).severity, text, topic=place)
