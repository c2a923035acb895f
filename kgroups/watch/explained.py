"""The text of ``explain`` on the page of a group, with the verdicts about its partitions that lag."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.run_query import run_query
from kgroups.errors import KgroupsError
from kgroups.model.counts import count

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.explain.facts import GroupFacts
    from kgroups.model.outcome import Outcome
    from kgroups.model.verdicts.facts import PartitionFacts

    from .state.watching import GroupKey

VERDICTS = 20
"""Maximum number of partitions whose verdicts are shown."""


def explained(connection: ConnectionOptions, key: GroupKey) -> list[str]:
    """Return the findings about a group, and the verdicts about its partitions that lag."""
    from kgroups.admin.observe import observe_partitions
    from kgroups.admin.port import WireOnly, wire_of
    from kgroups.admin.query.explain import gather_facts
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.explain import explain
    from kgroups.model.verdicts.judge import judge
    from kgroups.render.explain import Explained, write_explained
    from kgroups.render.failures import failure_lines
    from kgroups.render.verdicts import Judged, write_verdicts
    from kgroups.render.views import Tier

    selection = Selection((key.group,))
    lagging: list[PartitionFacts] = []

    async def query(admin: GroupAdmin) -> Outcome[GroupFacts]:
        facts, partitions = await asyncio.gather(
            gather_facts(wire_of(admin, WireOnly.EXPLAIN), selection), observe_partitions(admin, selection, None)
        )
        lagging.extend(partitions.items)
        return facts.with_failures(each for each in partitions.failures if each not in facts.failures)

    try:
        outcome, _ = run_query(connection.of(key.cluster).settings, query, debug=False, quiet=True)
    except KgroupsError as error:
        return [f"explain failed: {error}"]
    out = io.StringIO()
    write_explained([Explained(each, explain(each)) for each in outcome.items], "plain", out, Tier.BASE, headers=True)
    out.write("\n" * bool(lagging))
    write_verdicts((Judged(judge(each)) for each in lagging[:VERDICTS]), out, colored=False)
    if len(lagging) > VERDICTS:
        out.write(f"\n{count(len(lagging) - VERDICTS, 'more partition')} with lag: kgroups explain GROUP --lagging\n")
    return [*out.getvalue().splitlines(), *failure_lines(outcome.failures)]
