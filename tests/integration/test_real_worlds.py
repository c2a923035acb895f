"""Simulated worlds on a real broker: no command contradicts what their schedule makes true."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from kgroups.model.severity import Severity, worst
from kgroups.model.verdicts.verdict import Key
from kgroups.sandbox import Sandbox
from tests.integration.asking import Answer, run_here
from tests.integration.real_worlds import RealWorld, play_all
from tests.integration.versions import newest_only
from tests.property.traffic.judges import against_check, against_key, total_is_wrong
from tests.property.traffic.world import World

WORLDS, AT_ONCE = 300, 30
TICKS = 80
OLD = 1_800_000
"""Milliseconds: records are seconds old, or an hour by the clock of a producer."""
MOVING = frozenset({Key.FALLING_BEHIND, Key.CATCHING_UP, Key.THROTTLED})
TIMED = frozenset({Key.NOT_COMMITTING, Key.SAME_OFFSET_COMMITTED, Key.CRASH_LOOP, Key.REBALANCING})
LATE = ("--stuck-after", "10m")


@newest_only
@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, WORLDS, AT_ONCE))
def test_no_command_contradicts_the_truth_about_real_groups(cluster: Sandbox, first: int) -> None:
    wrong = list(contradictions(cluster.bootstrap, range(first, first + AT_ONCE)))
    assert not wrong, "\n".join(wrong)


def contradictions(bootstrap: str, seeds: Sequence[int]) -> Iterator[str]:
    """Play worlds with real clients, and yield what commands say that is not true."""
    worlds = [RealWorld(bootstrap, seed, _world(seed)) for seed in seeds]
    try:
        failed = play_all(worlds)
        assert not failed, failed
        for each in worlds:
            assert each.committed() == each.world.committed, each.group
        groups = {each.group: each for each in worlds if each.world.committed or each.world.members}
        yield from _lag(run_here("lag", *groups, "-o", "json", bootstrap=bootstrap), groups)
        limits = ("--max-lag", "500", "--max-time-lag", f"{OLD}ms", "--stopped", "--assigned")
        yield from _check(run_here("check", *groups, *limits, "-o", "json", bootstrap=bootstrap), groups)
        topics = [
            word for each in groups.values() for name in each.world.topics for word in ("--partition", each.topic(name))
        ]
        answer = run_here("explain", *groups, *topics, *LATE, "--timeout", "60s", "-o", "json", bootstrap=bootstrap)
        yield from _explain(answer, groups)
        yield from _watch(bootstrap, groups)
    finally:
        for each in worlds:
            each.close()


def _world(seed: int) -> World:
    world = World(seed, real=True)
    for _ in range(TICKS):
        world.step()
    world.settle()
    world.outsider = None  # its client ends with the schedule
    return world


def _lag(answer: Answer, groups: dict[str, RealWorld]) -> Iterator[str]:
    assert {each["group"] for each in answer.items} == groups.keys(), answer.err
    for item in answer.items:
        if wrong := total_is_wrong(groups[item["group"]].world, item["total_lag"]):
            yield f"lag: {wrong} {item}"


def _check(answer: Answer, groups: dict[str, RealWorld]) -> Iterator[str]:
    items = answer.items
    assert answer.code == worst(Severity[item["status"]] for item in items)
    for item in items:
        world = groups[item["group"]].world
        if wrong := against_check(world, item["check"], Severity[item["status"]], old=OLD):
            yield f"check: {wrong} {item}"


def _explain(answer: Answer, groups: dict[str, RealWorld]) -> Iterator[str]:
    seen = set()
    for item in answer.items:
        real, key = groups[item["group"]], Key(item["verdict"])
        if not item["topic"].startswith(real.topic("")):
            if key not in (Key.UNASSIGNED, Key.CAUGHT_UP, Key.NOT_SUBSCRIBED, Key.REBALANCING):
                yield f"explain: another group's topic {item}"
            continue
        place = item["topic"].removeprefix(real.topic("")), item["partition"]
        seen.add((real.group, place))
        wrong = against_key(real.world, place, key, owned=place in real.world.owners)
        if wrong or key in MOVING | TIMED or item["unavailable"]:
            yield f"explain: {wrong} {item}"
    every = {(each.group, place) for each in groups.values() for place in each.world.kept[-1]}
    assert seen == every, every ^ seen


def _watch(bootstrap: str, groups: dict[str, RealWorld]) -> Iterator[str]:
    """Reset groups without members between refreshes: nothing is consumed or produced."""
    alone = [each for each in groups.values() if not each.world.members and not each.world.pending]

    def reset() -> None:
        time.sleep(2)
        for each in alone:
            each.reset()

    thread = threading.Thread(target=reset)
    thread.start()
    answer = run_here("watch", *groups, "--interval", "1s", "--count", "8", bootstrap=bootstrap)
    thread.join()
    ticks = [json.loads(line)["items"] for line in answer.lines]
    for item in (item for tick in ticks for item in tick):
        if item["rate_in"] or item["rate_out"] or (item["catch_up_ms"] and groups[item["group"]] in alone):
            yield f"watch: nothing is read or written {item}"
    for item in ticks[-1]:
        if wrong := total_is_wrong(groups[item["group"]].world, item["total_lag"]):
            yield f"watch: {wrong} {item}"
