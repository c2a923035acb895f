"""The time lag and the headroom of the partitions of one group, as ``kgroups lag --headroom`` computes them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.run_query import run_query
from kgroups.errors import KgroupsError

from .state.partitions import TimeLags

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.offsets import Isolation
    from kgroups.model.outcome import Outcome

    from .state.watching import GroupKey


def read_time_lags(connection: ConnectionOptions, isolation: Isolation, key: GroupKey) -> TimeLags:
    """Return the time lags and headroom of a group, or why they are unknown. Waits for brokers and reads records."""
    from kgroups.admin.observe import read_ages
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.views.lag_summary import By, headroom_of, shares, time_of
    from kgroups.render.failures import failure_lines

    at = int(time.time() * 1000)

    async def query(admin: GroupAdmin) -> Outcome[TimeLags]:
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
