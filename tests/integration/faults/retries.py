"""Run a command under a fault and compare it with a second client; repeat it if the machine was too slow."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.fakes.truth import Reported, Truth, judge, judge_rows
from tests.integration.faults.faulty_cluster import HELD, TARGETS, VICTIM, FaultyCluster, States, at_rest
from tests.integration.faults.proxy import Exchange
from tests.integration.faults.running import Bounds, Ran, inside, reported, run
from tests.integration.faults.table import BOUNDS, COMMANDS, FLOOR

attempts: Final[list[tuple[str, float]]] = []
"""Every command that was tried, and its seconds as a share of what it may take; for a last word on all of them."""
unfair: Final[list[str]] = []
"""The commands that were tried again because of the machine, and what it did."""

TRIES: Final = tuple(Bounds(BOUNDS.timeout * by, BOUNDS.broker_timeout * by) for by in (1, 2, 4, 8))
"""The time limits of each try."""
PATIENT: Final = Bounds(timeout=240, broker_timeout=120)
"""For commands without a fault."""

SHOWN: Final = 12
"""Problems of one command."""
KEYS: Final = {
    "reset": ("group", "topic", "partition"),
    "undo": ("group", "topic", "partition"),
    "delete-offsets": ("group", "topic", "partition"),
    "delete": ("group",),
    "remove-members": ("group", "consumer_id"),
}
"""Commands that change something, and the fields of a row that make its key."""


@dataclass
class Tried:
    """What came of one command, and everything that is wrong with it."""

    command: str
    truth: Truth
    wanted: set[str]
    bounds: Bounds
    ran: Ran
    reported: Reported
    problems: list[str]
    """What is wrong, on a machine of any speed."""
    exchanges: list[Exchange]
    """What the brokers received of it, and when they answered."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    before: States = field(default_factory=dict)

    @property
    def applied(self) -> set[tuple[object, ...]]:
        return {tuple(row[name] for name in KEYS[self.command]) for row in self.rows if row["result"] == "applied"}

    def is_late(self, seconds: float) -> bool:
        """Whether it took longer than it may, on a machine that gives it its time."""
        looks = 2 if self.command == "watch" else 1
        return self.ran.seconds > 1.1 * looks * seconds + FLOOR

    def excuses(self, healthy: Collection[int]) -> list[str]:
        """What the machine did that may make an answer late or partial: half of a broker's time, or the last of all."""
        limit, out_of_time = self.bounds.broker_timeout / 2, self.ran.seconds > 0.9 * self.bounds.timeout
        found = [
            f"broker {each.broker} took {each.seconds:.1f} s for API {each.api}{'' if each.answered else ', or longer'}"
            for each in self.exchanges
            if each.broker in healthy and (each.seconds > limit or (out_of_time and not each.answered))
        ]
        return [*found, f"the process lost {self.ran.lost:.1f} s"] if self.ran.lost > limit else found

    @property
    def report(self) -> list[str]:
        shown = (
            f"exit code {self.ran.code} after {self.ran.seconds:.1f} s\n{self.ran.out[:2000]}\n{self.ran.err[:3000]}"
        )
        more = [f"… and {len(self.problems) - SHOWN} more"] if len(self.problems) > SHOWN else []
        return [*self.problems[:SHOWN], *more, shown] if self.problems else []


def fairly(
    attempt: Callable[[Bounds], Tried], demands: Callable[[Tried], list[str]], healthy: Collection[int]
) -> Tried:
    """Try until the machine gives a command its time; ``problems`` of the result are all that is wrong.

    :param demands: what is missing of an answer that has its time; not judged where the machine may be the cause.
    :param healthy: the brokers whose answers it needs.
    """
    for bounds in TRIES:
        tried = attempt(bounds)
        missing = demands(tried)
        excuses = tried.excuses(healthy)
        if tried.problems or not missing or not excuses:
            tried.problems += missing
            return tried
        unfair.append(f"{tried.command}, {bounds.broker_timeout} s: {'; '.join(missing[:2])}: {'; '.join(excuses[:2])}")
    tried.problems += [f"the machine was too slow for a fair try in {len(TRIES)}", *excuses, *missing]
    return tried


def attempt(
    faulty_cluster: FaultyCluster,
    command: str,
    begin: AbstractContextManager[None],
    folder: Path,
    bounds: Bounds = BOUNDS,
    truth: Truth | None = None,
) -> Tried:
    """Try a command, for undo files in this folder; the cluster is left as it was found.

    :param truth: for reads, what was read before, where it cannot be read now.
    """
    if command in KEYS:
        with inside(Path(tempfile.mkdtemp(dir=folder))):
            tried = _change(faulty_cluster, command, begin, bounds)
    else:
        tried = _look(faulty_cluster, command, begin, bounds, truth or faulty_cluster.truth())
    if "Traceback" in tried.ran.err:
        tried.problems.append("traceback")
    if tried.ran.code == -1:
        tried.problems.append("hang")
    looks = 2 if command == "watch" else 1
    attempts.append((command, tried.ran.seconds / (looks * bounds.timeout)))
    return tried


def late(tried: Tried) -> list[str]:
    return [f"late: {tried.ran.seconds:.1f} s"] if tried.is_late(tried.bounds.timeout) else []


# Reads.


def _look(
    faulty_cluster: FaultyCluster, command: str, begin: AbstractContextManager[None], bounds: Bounds, truth: Truth
) -> Tried:
    wanted, words = truth.groups, COMMANDS[command].words
    if command == "describe":
        wanted = {_name_on(truth, VICTIM), _name_on(truth, 3)}
        words = (*words, *sorted(wanted))
    ran, exchanges = _run(faulty_cluster, command, words, begin, bounds)
    output = reported(command, ran)
    return Tried(command, truth, wanted, bounds, ran, output, judge(output, truth, wanted), exchanges)


def _run(
    faulty_cluster: FaultyCluster,
    command: str,
    words: tuple[str, ...],
    begin: AbstractContextManager[None],
    bounds: Bounds,
) -> tuple[Ran, list[Exchange]]:
    with begin:
        faulty_cluster.proxy.record()
        ran = run(command, words, faulty_cluster.proxy.bootstrap, bounds)
        return ran, faulty_cluster.proxy.record()


def _name_on(truth: Truth, broker: int) -> str:
    """A group that is only read, of this broker."""
    return next(name for name, where in sorted(truth.coordinators.items()) if where == broker and name not in HELD)


# Writes.


def _change(faulty_cluster: FaultyCluster, command: str, begin: AbstractContextManager[None], bounds: Bounds) -> Tried:
    """Under the fault, row by row; and when it is over, an undo."""
    faulty_cluster.restore()
    words = COMMANDS[command].words
    if command == "undo":
        reset = run(
            "reset", (*COMMANDS["reset"].words, "--undo-file", "undo.json"), faulty_cluster.sandbox.bootstrap, PATIENT
        )
        assert reset.code == 0, reset
    elif command != "remove-members":
        words = (*words, "--undo-file", "undo.json")
    truth, before = faulty_cluster.truth(), _state(faulty_cluster, command)
    ran, exchanges = _run(faulty_cluster, command, words, begin, bounds)
    after = _state(faulty_cluster, command)
    rows = json.loads(ran.out)["items"] if ran.out else []
    problems = judge_rows(rows, before, after, _wished(command, before), *KEYS[command])
    if Path("undo.json").exists():
        problems += _undone(faulty_cluster)
    faulty_cluster.restore()
    wanted = set(HELD if command == "remove-members" else TARGETS)
    return Tried(command, truth, wanted, bounds, ran, reported(command, ran), problems, exchanges, rows, before)


def _state(faulty_cluster: FaultyCluster, command: str) -> States:
    if command == "delete":
        return faulty_cluster.existing()
    return faulty_cluster.members() if command == "remove-members" else faulty_cluster.offsets()


def _wished(command: str, before: States) -> States:
    if command == "reset":
        return dict.fromkeys(before, 17)
    return at_rest() if command == "undo" else {}


def _undone(faulty_cluster: FaultyCluster) -> list[str]:
    """The fault is over: the undo file brings back what was."""
    undo = run("undo", COMMANDS["undo"].words, faulty_cluster.sandbox.bootstrap, PATIENT)
    now, was = faulty_cluster.offsets(), at_rest()
    wrong = [f"undo: {key} is {now.get(key)}, and was {was[key]}" for key in was if now.get(key) != was[key]]
    return [*wrong, f"undo: {undo}"] if wrong or "Traceback" in undo.err else []
