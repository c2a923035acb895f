"""The time lag of the partitions of one group, as ``kgroups lag --time`` computes it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kgroups.errors import KgroupsError
from kgroups.model.watch.partitions import TimeLags

from ..frame.options import ConnectionOptions
from ..frame.run_query import run_query

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.offsets import Isolation
    from kgroups.model.outcome import Outcome
    from kgroups.model.time_lag import TimeLag
    from kgroups.model.watch.totals import Place
    from kgroups.model.watch.watching import GroupKey


def read_time_lags(connection: ConnectionOptions, isolation: Isolation, key: GroupKey) -> TimeLags:
    """Return the time lags of a group, or why they are unknown. Waits for brokers and reads records."""
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.views.lag_summary import Ages, By, shares, time_of
    from kgroups.render.failures import failure_lines

    found: dict[Place, TimeLag] = {}
    at = int(time.time() * 1000)

    async def query(admin: GroupAdmin) -> Outcome[object]:
        outcome = await admin.describe_offsets(Selection((key.group,)), isolation=isolation, whole_topics=True)
        all_shares = [share for item in outcome.items for share in shares(item, By.PARTITION)]
        positions = {position for share in all_shares for position in share.positions()}
        unread, failures = await admin.find_unread(positions, isolation=isolation)
        for share in all_shares:
            for row in share.rows:
                if row.topic is not None and row.partition is not None:
                    found[row.topic, row.partition] = time_of(row, Ages(unread, at))
        return outcome.with_items(()).with_failures(failures)

    try:
        outcome, _ = run_query(connection.of(key.cluster).settings, query, debug=False, quiet=True)
    except (KgroupsError, OSError) as error:
        return TimeLags(at, {}, (str(error),))
    return TimeLags(at, found, tuple(failure_lines(outcome.failures)))
