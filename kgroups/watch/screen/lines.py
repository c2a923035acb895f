"""Write one JSON line per tick: ``{"schema": "kgroups/watch/v1", "tick", "at", "items", "failures", "notices"}``.

With several clusters, it has the key ``clusters``, and the items may be their totals (``kgroups/watch-by-cluster/v1``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from kgroups.model.outcome import Failure
from kgroups.render.jsonout import VERSION, failure_object

from ..state.cluster_totals import ClusterTotal
from ..state.watching import WatchRow


def write_tick(
    rows: Sequence[WatchRow],
    failures: Iterable[Failure],
    notices: Iterable[str],
    tick: int,
    at: int,
    stream: TextIO,
    clusters: Mapping[str, str | None] | None = None,
    totals: Sequence[ClusterTotal] | None = None,
) -> None:
    """Write one tick; rates are in records per second.

    :param at: milliseconds since 1970.
    :param clusters: the IDs of the clusters, if there are several.
    :param totals: the items instead of the rows.
    """
    line = {
        "schema": f"kgroups/{'watch' if totals is None else 'watch-by-cluster'}/{VERSION}",
        "tick": tick,
        "at": at,
        "items": [_item(row) for row in rows] if totals is None else [each._asdict() for each in totals],
        "failures": [failure_object(failure) for failure in failures],
        "notices": list(notices),
        **({"clusters": clusters} if clusters is not None else {}),
    }
    stream.write(json.dumps(line) + "\n")
    stream.flush()


def _item(row: WatchRow) -> dict[str, object]:
    return {
        **({"cluster": row.cluster} if row.cluster else {}),
        "group": row.group,
        "status": row.status.status,
        "severity": row.status.severity.name,
        "state": row.state,
        "members": row.members,
        "total_lag": row.total_lag,
        "rate_in": _rounded(row.rate_in),
        "rate_out": _rounded(row.rate_out),
        "catch_up_ms": row.catch_up_ms,
        "falls_behind": row.falls_behind,
        "steady": row.steady,
        "rebalances": row.rebalances,
        "changed": sorted(row.changed),
        "stale": row.stale,
        "known_lag": row.known_lag,
        "unknown_partitions": row.unknown_partitions,
        "last_lag": row.last_lag,
        "lag_age_ms": row.lag_age_ms,
        "ahead": row.ahead,
        "data_lost": row.data_lost,
        "shared_instances": [{"instance_id": each.instance_id, "clients": each.clients} for each in row.shared],
    }


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 3)
