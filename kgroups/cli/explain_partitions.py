"""``kgroups explain --partition`` and ``--lagging``: one verdict for each partition."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import Any, NamedTuple

from kgroups.admin.client import Client
from kgroups.admin.observe import observe_partitions
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.outcome import NO_MATCH, Outcome
from kgroups.model.topic_scope import parse_topic_scope
from kgroups.model.verdicts.facts import PartitionFacts
from kgroups.model.verdicts.judge import judge
from kgroups.model.verdicts.verdict import Adds
from kgroups.render.verdicts import Judged, write_json, write_verdicts

from .frame.options import ConnectionOptions
from .frame.output import or_write_error, print_failures
from .frame.run_query import query_items


class PartitionOptions(NamedTuple):
    """The options that select partitions; ``stuck_after`` is in seconds."""

    partitions: tuple[str, ...]
    lagging: bool
    show_record: bool
    stuck_after: float

    @property
    def given(self) -> bool:
        return bool(self.partitions) or self.lagging


def of_cluster(connection: ConnectionOptions, cluster: str | None, command: str | None) -> str | None:
    """Return a command for one of several clusters; the commands of other tools have no profiles."""
    if cluster and connection.fleet and command and command.startswith("kgroups "):
        return f"{command} {shlex.join(connection.fleet.as_words(cluster))}"
    return command


def explain_partitions(
    connection: ConnectionOptions, output: str, fmt: str, selection: Selection, options: PartitionOptions
) -> int:
    """Show the verdicts; return the exit code."""
    if options.partitions and options.lagging:
        raise UsageError("--partition and --lagging are mutually exclusive")
    wanted = parse_topic_scope(options.partitions, "--partition") if options.partitions else None

    async def query(admin: Client) -> Outcome[Any]:
        outcome = await observe_partitions(admin, selection, wanted)
        if not outcome.items and not outcome.failures and wanted is not None:
            return outcome.with_failures((), [NO_MATCH])
        return outcome

    stuck_after = round(options.stuck_after * 1000)

    def judged_in(cluster: str | None, facts: PartitionFacts) -> Judged:
        verdict = judge(facts, stuck_after)
        repeats = options.show_record and verdict.adds is Adds.RECORD
        verdict = verdict._replace(next=None if repeats else of_cluster(connection, cluster, verdict.next))
        return Judged(verdict, facts.record if options.show_record else None, cluster)

    judged, cluster_id, clusters = query_items(
        connection,
        partial(or_write_error, output, lambda empty: write_json(empty, sys.stdout, None)),
        query,
        selection,
        judged_in,
    )
    if not judged.items and not judged.failures and options.lagging:
        judged = judged.with_failures((), ["no partition of the selected groups lags"])
    if fmt == "json":
        write_json(judged, sys.stdout, cluster_id, clusters)
    else:
        write_verdicts(judged.items, sys.stdout, fmt)
    sys.stdout.flush()
    print_failures(judged)
    unavailable = any(each.verdict.unavailable for each in judged.items)
    return judged.exit_code or int(unavailable)
