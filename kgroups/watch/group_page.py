"""What the page of a group reads on demand: the time lags and the headroom of its partitions, and ``explain``."""

from __future__ import annotations

import io
import time

from kgroups.admin.client import Client
from kgroups.admin.observe import group_facts, read_ages
from kgroups.admin.query.select_groups import Selection
from kgroups.cli.explain import explain_one
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.run_query import run_query
from kgroups.errors import KgroupsError
from kgroups.model.counts import count
from kgroups.model.explain.facts import GroupFacts
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.shell import group_words
from kgroups.model.verdicts.facts import PartitionFacts
from kgroups.model.verdicts.judge import judge
from kgroups.model.views.lag_summary import By, headroom_of, shares, time_of
from kgroups.render.explain import write_explained
from kgroups.render.failures import failure_lines
from kgroups.render.verdicts import Judged, write_verdicts
from kgroups.render.views import Tier

from .state.partitions import TimeLags
from .state.watching import GroupKey


def read_time_lags(connection: ConnectionOptions, isolation: Isolation, key: GroupKey) -> TimeLags:
    """Return the time lags and headroom of a group, or why they are unknown. Waits for brokers and reads records."""
    at = int(time.time() * 1000)

    async def query(admin: Client) -> Outcome[TimeLags]:
        outcome = await admin.describe_offsets(Selection((key.group,)), isolation=isolation, whole_topics=True)
        every = [share for item in outcome.items for share in shares(item, By.GROUP)]
        with_headroom = admin.cluster is not None
        ages, failures = await read_ages(admin, every, at, isolation=isolation, headroom=with_headroom)
        rows = {
            (row.topic, row.partition): row
            for share in every
            for row in share.rows
            if row.topic is not None and row.partition is not None
        }
        notes = (share.tally(ages).note for share in every)
        times = TimeLags(
            at,
            {place: time_of(row, ages) for place, row in rows.items()},
            rooms={place: headroom_of(row, ages) for place, row in rows.items()},
            note="; ".join(filter(None, notes)) or None,
        )
        return outcome.with_items((times,)).with_failures(failures)

    try:
        outcome, _ = run_query(connection.of(key.cluster).settings, query, debug=False, quiet=True)
    except (KgroupsError, OSError) as error:
        return TimeLags(at, {}, (str(error),))
    times: TimeLags = outcome.items[0]
    return times._replace(failures=tuple(failure_lines(outcome.failures)))


VERDICTS = 20
"""Maximum number of partitions whose verdicts are shown."""


def explained(connection: ConnectionOptions, key: GroupKey) -> list[str]:
    """Return the status of a group and the findings about it, then the evidence about its partitions that lag."""
    if any(source.name == key.group for source in connection.settings.positions):
        return ["explain is not available: the positions of the group are in the checkpoint of a Spark query"]
    selection = Selection((key.group,))
    lagging: list[PartitionFacts] = []

    async def query(admin: Client) -> Outcome[GroupFacts]:
        facts, partitions = await group_facts(admin, selection, with_pace=True)
        lagging.extend(partitions.items)
        return facts.with_failures(each for each in dict.fromkeys(partitions.failures) if each not in facts.failures)

    try:
        outcome, _ = run_query(connection.of(key.cluster).settings, query, debug=False, quiet=True)
    except KgroupsError as error:
        return [f"explain failed: {error}"]
    out = io.StringIO()
    items = [explain_one(connection, key.cluster, facts)._replace(cluster=None) for facts in outcome.items]
    write_explained(items, "plain", out, Tier.BASE, headers=True)
    if lagging:
        out.write("\n")
        verdicts = sorted(map(judge, lagging), key=lambda verdict: verdict.rank)
        write_verdicts(map(Judged, verdicts[:VERDICTS]), out)
        if len(lagging) > VERDICTS:
            more = count(len(lagging) - VERDICTS, "more partition")
            out.write(f"\n{more} with lag: kgroups explain {group_words(key.group)} --lagging\n")
    return [*out.getvalue().splitlines(), *failure_lines(outcome.failures)]
