"""Commands during rolling restarts of all brokers: nothing is omitted without a failure."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Final

import pytest

from tests.integration.faults.cell import check_cell, parameters
from tests.integration.faults.faulty_cluster import FaultyCluster
from tests.integration.faults.proxy import PATIENCE
from tests.integration.faults.retries import KEYS, Tried, attempt, fairly, late
from tests.integration.faults.running import Bounds
from tests.integration.faults.table import COMMANDS

COMMANDS_MEANWHILE: Final = 240
REPLICATED: Final = {
    "offsets.topic.replication.factor": "3",
    "default.replication.factor": "3",
    "min.insync.replicas": "1",
    "controlled.shutdown.enable": "true",
    # A broker that has restarted leads again what it led before, and soon.
    "leader.imbalance.check.interval.seconds": "1",
    "leader.imbalance.per.broker.percentage": "0",
}
READS: Final = [name for name in COMMANDS if name not in KEYS]


@pytest.fixture(scope="module")
def faulty_cluster(needs_newest: None) -> Iterator[FaultyCluster]:
    with FaultyCluster.up(f"pytest-{os.getpid()}-rolling", REPLICATED) as started:
        yield started


@contextmanager
def rolling(faulty_cluster: FaultyCluster) -> Iterator[list[int]]:
    """Restart broker after broker with SIGTERM, until the block ends; gives the brokers restarted so far."""
    over, restarted = threading.Event(), list[int]()

    def roll() -> None:
        for broker in cycle((1, 2, 3)):
            faulty_cluster.sandbox.terminate(broker)
            faulty_cluster.sandbox.restart(broker, timeout=PATIENCE)
            restarted.append(broker)
            if over.wait(1) and len(restarted) >= 3:
                return

    with ThreadPoolExecutor(1) as pool:
        rolling = pool.submit(roll)
        try:
            yield restarted
        finally:
            over.set()
            rolling.result()
            faulty_cluster.wait_for_leaders()


def problems(tried: Tried) -> list[str]:
    """Coordinators move, so any broker may be blamed, but not in a successful result."""
    silent = [each for each in tried.problems if not each.startswith("silent: group")]
    missing = tried.wanted - tried.reported.groups
    well = not tried.reported.failures if tried.command == "exporter" else tried.ran.code == 0
    if missing and (well or not (tried.reported.failures or tried.reported.err)):
        silent += [f"silent: group {group} is missing" for group in sorted(missing)]
    if tried.ran.code not in (0, 3 if tried.command == "check" else 1):
        silent.append(f"exit code {tried.ran.code}")
    unknown = any(None in row for row in (tried.reported.offsets or {}).values())
    if well and unknown and tried.command != "exporter":
        silent.append("exit code 0, and something is unknown")
    return silent


def run_all(faulty_cluster: FaultyCluster, count: int, folder: Path) -> None:
    failed, codes = [], []
    truth = faulty_cluster.truth()

    def ask(command: str, bounds: Bounds) -> Tried:
        tried = attempt(faulty_cluster, command, nullcontext(), folder, bounds, truth)
        tried.problems = problems(tried)
        return tried

    with rolling(faulty_cluster) as restarted:
        for number, command in zip(range(count), cycle(READS)):
            tried = fairly(partial(ask, command), late, ())
            codes.append(tried.ran.code)
            if tried.problems:
                failed.append("\n".join([f"{command}, the {number + 1}th command:", *tried.report]))
    print(f"{len(codes)} commands during {len(restarted)} restarts, {codes.count(0)} of them whole")
    if failed:
        pytest.fail(f"{len(failed)} of {count} commands:\n\n" + "\n\n".join(failed), pytrace=False)


@pytest.mark.parametrize(("fault", "command"), parameters(replicated=True))
def test_command_during_broker_restart_matches_the_table(
    faulty_cluster: FaultyCluster, fault: str, command: str, tmp_path: Path
) -> None:
    """One broker restarts and hands over its partitions."""
    check_cell(faulty_cluster, fault, command, tmp_path)


@pytest.mark.soak
def test_commands_during_rolling_restarts_are_complete(faulty_cluster: FaultyCluster, tmp_path: Path) -> None:
    """Each change runs ``tests/integration/test_rolling.py``, which looks for silently missing groups."""
    run_all(faulty_cluster, COMMANDS_MEANWHILE, tmp_path)
