"""Random schedules of faults: whatever goes wrong, what is printed is true, and what is missing is named, in time.

``--seed N`` replays one schedule, with what it does.
"""

from __future__ import annotations

import io
import json
import time
import traceback
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Final

import pytest

from kgroups.cli.main import main
from kgroups.dropins.consumer_groups import TOOL
from tests.fakes.schedules import Schedule, commits_of, schedule
from tests.fakes.serving import serving
from tests.fakes.truth import (
    Reported,
    judge,
    judge_rows,
    of_check,
    of_dropin_describe,
    of_dropin_list,
    of_json,
    of_watch,
)
from tests.fakes.watchdog import Hang, Pulse, alarm

IN_CI: Final = 150
IN_SOAK: Final = 1000
CHUNK: Final = 50

TIMEOUT: Final = 2.0
BROKER_TIMEOUT: Final = 0.2
FLOOR: Final = 10.0
"""Seconds that a busy machine may take for anything."""
HANG: Final = 300

READERS: Final = {"check": of_check, "watch": of_watch, "dropin-list": of_dropin_list}
KEYS: Final = {
    "reset-offsets": ("group", "topic", "partition"),
    "delete-offsets": ("group", "topic", "partition"),
    "delete": ("group",),
    "remove-members": ("group", "consumer_id"),
}


def run(made: Schedule) -> tuple[int, str, str, float]:
    """The exit code, stdout, stderr, and the seconds that the machine gave it."""
    where = ",".join(f"127.0.0.1:{broker.port}" for broker in made.fake.brokers.values())
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with redirect_stdout(out), redirect_stderr(err), alarm(HANG), Pulse() as pulse:
        if made.command.startswith("dropin"):
            timeout = str(int(TIMEOUT * 1000))
            code = TOOL.main(["--bootstrap-server", where, *made.words, "--timeout", timeout])
        else:
            name = made.command.removesuffix("-all").removesuffix("-state")
            bounds = ("--timeout", f"{TIMEOUT}s", "--broker-timeout", f"{BROKER_TIMEOUT}s")
            code = main([name, "-b", where, *made.words, *bounds])
    return code, out.getvalue(), err.getvalue(), time.monotonic() - began - pulse.lost


def states(made: Schedule) -> dict[tuple[object, ...], object]:
    """What the command may change, by the keys of its rows."""
    groups = made.fake.state.groups
    if made.command == "delete":
        return {(name,): True for name in groups}
    if made.command == "remove-members":
        return {(name, member.member_id): True for name, group in groups.items() for member in group.members}
    return {(name, *pair): offset for name, group in groups.items() for pair, offset in commits_of(group).items()}


def wished(made: Schedule, before: Mapping[tuple[object, ...], object]) -> dict[tuple[object, ...], object]:
    if made.command != "reset-offsets":
        return {}
    return {key: 7 if key[0] in made.wanted else value for key, value in before.items()}


def problems(made: Schedule) -> list[str]:
    """Run it; everything that is not as promised."""
    truth, before = made.truth(), states(made)
    try:
        with serving(made.fake):
            code, out, err, seconds = run(made)
    except Hang:
        return [f"hang: more than {HANG} s"]
    except Exception:
        return [f"traceback: {traceback.format_exc()}"]
    found = ["traceback on stderr"] if "Traceback" in err else []
    if seconds > TIMEOUT * 1.1 + FLOOR:
        found.append(f"late: {seconds:.1f} s")
    if made.command in KEYS:
        rows = json.loads(out)["items"] if out else []
        found += judge_rows(rows, before, states(made), wished(made, before), *KEYS[made.command])
        answer = of_json(out, err)
        applied = {row["group"] for row in rows if row["result"] == "applied"}
        touched = {str(key[0]) for key in before} & made.wanted
        done = touched <= applied
    else:
        reader = of_dropin_describe if made.command == "dropin-describe" else READERS.get(made.command, of_json)
        answer = reader(out, err)
        found += judge(answer, truth, made.wanted)
        done = made.wanted <= answer.groups and complete(answer)
    allowed = {0, 3} if made.command == "check" else {0, 1}
    if code not in allowed:
        found.append(f"exit code {code}")
    if code == 0 and not done:
        found.append("exit code 0, and not all is there")
    return [*found, *([f"exit code {code}\n{out[:3000]}\n{err}"] if found else [])]


def complete(reported: Reported) -> bool:
    """Whether it leaves nothing open."""
    offsets = reported.offsets or {}
    unknown = any(None in row for row in offsets.values())
    return not unknown and not any(total.marked for total in (reported.totals or {}).values())


@pytest.fixture
def _in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For undo files."""
    monkeypatch.chdir(tmp_path)


def chunks(count: int) -> list[range]:
    return [range(first, first + CHUNK) for first in range(0, count, CHUNK)]


def run_all(seeds: range) -> None:
    failed = []
    for seed in seeds:
        made = schedule(seed)
        if found := problems(made):
            failed.append("\n".join([f"--seed {seed}", str(made), *found]))
    if failed:
        pytest.fail(f"{len(failed)} of {len(seeds)} schedules:\n\n" + "\n\n".join(failed), pytrace=False)


@pytest.mark.parametrize("seeds", chunks(IN_CI), ids=str)
def test_random_schedules_give_true_answers(seeds: range, _in_tmp_path: None) -> None:
    run_all(seeds)


@pytest.mark.soak
@pytest.mark.parametrize("seeds", chunks(IN_SOAK), ids=str)
def test_more_random_schedules_give_true_answers(seeds: range, _in_tmp_path: None) -> None:
    run_all(seeds)


def test_schedule_of_given_seed_gives_true_answers(request: pytest.FixtureRequest, _in_tmp_path: None) -> None:
    seed = request.config.getoption("--seed")
    if seed is None:
        pytest.skip("replays the schedule that --seed names")
    run_all(range(seed, seed + 1))


def test_schedules_are_replayable() -> None:
    for seed in range(20):
        assert str(schedule(seed)) == str(schedule(seed))
        assert schedule(seed).truth() == schedule(seed).truth()
