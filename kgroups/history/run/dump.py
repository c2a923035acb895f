"""``kgroups history dump``."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime
from pathlib import Path

from kgroups.cli.frame.exit_status import print_to_stderr
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.errors import UsageError
from kgroups.model.counts import count

from ..extract.options import TABLES
from ..hosts import GivenHosts
from ..jobs.dump import Dump, dump_json, dump_parquet
from .options import check_span


def dump(
    connection: ConnectionOptions,
    hosts: GivenHosts,
    table: str,
    parquet: Path | None,
    processes: int | None,
    topic: str,
    since: datetime | None,
    until: datetime | None,
) -> int:
    """Run ``kgroups history dump``; return the exit code."""
    if processes and parquet is None:
        raise UsageError("--processes requires --parquet: JSON lines are written by one process")
    check_span(since, until)
    began = time.monotonic()
    times = _milliseconds(since), _milliseconds(until)
    request = Dump(connection.settings, TABLES[table], topic, *times, hosts.for_new_store())
    if parquet is None:
        rows = dump_json(request, sys.stdout)
        sys.stdout.flush()
    else:
        rows = dump_parquet(request, parquet, processes or os.cpu_count() or 1)
    seconds = time.monotonic() - began
    print_to_stderr(f"kgroups: {count(rows, 'row')} in {seconds:.1f} s, {rows / max(seconds, 0.001):,.0f} a second")
    return 0


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)
