"""Random faults on real brokers: whatever goes wrong, what is printed is true, and what is missing is named, in time.

``--seed N`` replays the fault of one schedule; what Kafka and the machine do at that moment, it cannot.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.integration.faults.faulty_cluster import VICTIM, FaultyCluster
from tests.integration.faults.proxy import BOTH, NO_FAULT, PATIENCE, Direction, Fault
from tests.integration.faults.retries import KEYS, Tried, attempt, fairly, late
from tests.integration.faults.running import Bounds
from tests.integration.faults.table import BOUNDS, COMMANDS

SCHEDULES: Final = 100
CHUNK: Final = 10
APIS: Final = (2, 3, 8, 9, 10, 13, 15, 16, 18, 42, 47, 69)
"""ListOffsets, Metadata, OffsetCommit, OffsetFetch, FindCoordinator, LeaveGroup, DescribeGroups, ListGroups,
ApiVersions, DeleteGroups, OffsetDelete, ConsumerGroupDescribe."""


class Schedule(NamedTuple):
    command: str
    fault: Fault
    brokers: tuple[int, ...]
    at: int | None
    """The API whose first request begins it; None: it is there from the start."""
    signal: str | None
    """What broker 2 gets besides."""
    signal_after: float
    """Seconds."""


def schedule(seed: int) -> Schedule:
    dice = random.Random(seed)
    directions: tuple[Direction, ...] = dice.choice((BOTH, ("requests",), ("responses",)))
    times = dice.choice((None, None, 1, 2))
    faults = (
        Fault(delay=dice.uniform(0, 0.3), jitter=dice.uniform(0, 0.1), directions=directions),
        Fault(delay=dice.uniform(1, 3) * BOUNDS.broker_timeout, directions=directions),
        Fault(rate=dice.choice((3_000, 30_000, 300_000)), directions=directions),
        Fault(cut=dice.randint(0, 3_000), directions=directions, times=times),
        Fault(cut=dice.randint(0, 60), directions=directions, times=times),
        Fault(reset=True, times=times),
        Fault(half_open=True),
        Fault(black_hole=True),
        Fault(mute=True, directions=directions),
        NO_FAULT,
    )
    return Schedule(
        command=dice.choice(list(COMMANDS)),
        fault=dice.choice(faults),
        brokers=tuple(dice.sample((1, 2, 3), dice.choice((1, 1, 1, 2, 3)))),
        at=dice.choice((None, *APIS)),
        signal=dice.choice((None, None, None, "stop", "stop", "kill")),
        signal_after=dice.uniform(0, 0.15),
    )


@pytest.fixture(scope="module")
def faulty_cluster(needs_newest: None) -> Iterator[FaultyCluster]:
    with FaultyCluster.up(f"pytest-{os.getpid()}-schedules") as started:
        yield started


@contextmanager
def under(faulty_cluster: FaultyCluster, made: Schedule) -> Iterator[None]:
    with ExitStack() as stack:
        for broker in made.brokers:
            if made.at is None:
                stack.enter_context(faulty_cluster.proxy.faulty(made.fault, broker))
            else:
                stack.enter_context(faulty_cluster.proxy.faulty_at([made.at], made.fault, broker))
        if made.signal:
            stack.enter_context(_signaled(faulty_cluster, made.signal, made.signal_after))
        yield


@contextmanager
def _signaled(faulty_cluster: FaultyCluster, signal: str, after: float) -> Iterator[None]:
    harm = faulty_cluster.sandbox.pause if signal == "stop" else faulty_cluster.sandbox.kill
    timer = threading.Timer(after, harm, [VICTIM])
    timer.start()
    try:
        yield
    finally:
        timer.join()
        if signal == "stop":
            faulty_cluster.sandbox.resume(VICTIM)
            faulty_cluster.sandbox.wait_ready(timeout=PATIENCE)
        else:
            faulty_cluster.sandbox.restart(VICTIM, timeout=PATIENCE)
        faulty_cluster.wait_for_leaders()


def run_one(faulty_cluster: FaultyCluster, made: Schedule, folder: Path, bounds: Bounds) -> Tried:
    tried = attempt(faulty_cluster, made.command, under(faulty_cluster, made), folder, bounds)
    tried.problems += _said_to_be_well(tried)
    return tried


def run_all(faulty_cluster: FaultyCluster, seeds: range, folder: Path) -> None:
    failed = []
    for seed in seeds:
        made = schedule(seed)
        healthy = {1, 2, 3} - {*made.brokers, *((VICTIM,) if made.signal else ())}
        tried = fairly(partial(run_one, faulty_cluster, made, folder), late, healthy)
        if tried.problems:
            failed.append("\n".join([f"--seed {seed}: {made}", *tried.report]))
    if failed:
        pytest.fail(f"{len(failed)} of {len(seeds)} schedules:\n\n" + "\n\n".join(failed), pytrace=False)


def _said_to_be_well(tried: Tried) -> list[str]:
    """Exit code 0 means that all is there."""
    if tried.ran.code or tried.command == "exporter":
        return []
    if tried.command in KEYS:
        done = {key for key in tried.before if key[0] in tried.wanted} <= tried.applied
    else:
        unknown = any(None in row for row in (tried.reported.offsets or {}).values())
        done = tried.wanted <= tried.reported.groups and not unknown
    return [] if done else ["exit code 0, and not all is there"]


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, SCHEDULES, CHUNK))
def test_random_schedules_give_true_answers(faulty_cluster: FaultyCluster, first: int, tmp_path: Path) -> None:
    run_all(faulty_cluster, range(first, first + CHUNK), tmp_path)


def test_schedule_of_given_seed_gives_true_answers(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    seed = request.config.getoption("--seed")
    if seed is None:
        pytest.skip("replays the schedule that --seed names")
    run_all(request.getfixturevalue("faulty_cluster"), range(seed, seed + 1), tmp_path)
