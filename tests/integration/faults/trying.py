"""One command under a fault, compared with what a second client knows: what holds whatever the fault is."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.fakes.truth import Told, Truth, judge, judge_rows
from tests.integration.faults.running import Ran, inside, run, told
from tests.integration.faults.table import BROKER_TIMEOUT, COMMANDS, FLOOR, TIMEOUT
from tests.integration.faults.victim import HELD, TARGETS, VICTIM, States, Victim, at_rest

attempts: Final[list[tuple[str, float]]] = []
"""Every command that was tried, and its seconds as a share of what it may take; for a last word on all of them."""

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
    ran: Ran
    said: Told
    problems: list[str]
    rows: list[dict[str, Any]] = field(default_factory=list)
    before: States = field(default_factory=dict)

    @property
    def applied(self) -> set[tuple[object, ...]]:
        return {tuple(row[name] for name in KEYS[self.command]) for row in self.rows if row["result"] == "applied"}

    @property
    def report(self) -> list[str]:
        shown = (
            f"exit code {self.ran.code} after {self.ran.seconds:.1f} s\n{self.ran.out[:2000]}\n{self.ran.err[:3000]}"
        )
        more = [f"… and {len(self.problems) - SHOWN} more"] if len(self.problems) > SHOWN else []
        return [*self.problems[:SHOWN], *more, shown] if self.problems else []


def attempt(
    victim: Victim,
    command: str,
    begin: AbstractContextManager[None],
    bootstrap: str,
    folder: Path,
    truth: Truth | None = None,
) -> Tried:
    """Try a command, for undo files in this folder; the cluster is left as it was found.

    :param truth: for reads, what was read before, where it cannot be read now.
    """
    if command in KEYS:
        with inside(folder):
            tried = _change(victim, command, begin, bootstrap)
    else:
        tried = _look(command, begin, bootstrap, truth or victim.truth())
    tried.problems += _ended_badly(tried)
    return tried


def _ended_badly(tried: Tried) -> list[str]:
    found = []
    if "Traceback" in tried.ran.err:
        found.append("traceback")
    if tried.ran.code == -1:
        found.append("hang")
    looks = 2 if tried.command == "watch" else 1
    attempts.append((tried.command, tried.ran.seconds / (looks * TIMEOUT)))
    if tried.ran.seconds > 1.1 * looks * TIMEOUT + FLOOR:
        found.append(f"late: {tried.ran.seconds:.1f} s")
    return found


# Reads.


def _look(command: str, begin: AbstractContextManager[None], bootstrap: str, truth: Truth) -> Tried:
    wanted, words = truth.groups, COMMANDS[command].words
    if command == "describe":
        wanted = {_name_on(truth, VICTIM), _name_on(truth, 3)}
        words = (*words, *sorted(wanted))
    with begin:
        ran = run(command, words, bootstrap, TIMEOUT, BROKER_TIMEOUT)
    said = told(command, ran)
    return Tried(command, truth, wanted, ran, said, judge(said, truth, wanted))


def _name_on(truth: Truth, broker: int) -> str:
    """A group that is only read, of this broker."""
    return next(name for name, where in sorted(truth.coordinators.items()) if where == broker and name not in HELD)


# Writes.


def _change(victim: Victim, command: str, begin: AbstractContextManager[None], bootstrap: str) -> Tried:
    """Under the fault, row by row; and when it is over, an undo."""
    victim.restore()
    words = COMMANDS[command].words
    if command == "undo":
        reset = run("reset", (*COMMANDS["reset"].words, "--undo-file", "undo.json"), victim.sandbox.bootstrap, 60, 30)
        assert reset.code == 0, reset
    elif command != "remove-members":
        words = (*words, "--undo-file", "undo.json")
    truth, before = victim.truth(), _state(victim, command)
    with begin:
        ran = run(command, words, bootstrap, TIMEOUT, BROKER_TIMEOUT)
    after = _state(victim, command)
    rows = json.loads(ran.out)["items"] if ran.out else []
    problems = judge_rows(rows, before, after, _wished(command, before), *KEYS[command])
    if Path("undo.json").exists():
        problems += _undone(victim)
    victim.restore()
    wanted = set(HELD if command == "remove-members" else TARGETS)
    return Tried(command, truth, wanted, ran, told(command, ran), problems, rows, before)


def _state(victim: Victim, command: str) -> States:
    if command == "delete":
        return victim.existing()
    return victim.members() if command == "remove-members" else victim.offsets()


def _wished(command: str, before: States) -> States:
    if command == "reset":
        return dict.fromkeys(before, 17)
    return at_rest() if command == "undo" else {}


def _undone(victim: Victim) -> list[str]:
    """The fault is over: the undo file brings back what was."""
    undo = run("undo", COMMANDS["undo"].words, victim.sandbox.bootstrap, 60, 30)
    now, was = victim.offsets(), at_rest()
    wrong = [f"undo: {key} is {now.get(key)}, and was {was[key]}" for key in was if now.get(key) != was[key]]
    return [*wrong, f"undo: {undo}"] if wrong or "Traceback" in undo.err else []
