"""The expected result of every command under every fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

from tests.integration.faults.faulty_cluster import VICTIM, FaultyCluster
from tests.integration.faults.proxy import Fault
from tests.integration.faults.running import Bounds

BOUNDS: Final = Bounds(timeout=8.0, broker_timeout=1.5)
FLOOR: Final = 15.0
"""Seconds that a busy machine may take for anything."""


class Command(NamedTuple):
    """Words without connection options, and the API at whose first request a fault may begin."""

    words: tuple[str, ...]
    at: int
    writes: bool = False


_JSON: Final = ("-o", "json")
_EXECUTE: Final = ("--execute", "--yes", *_JSON)
_NOW: Final = ("--force", *_EXECUTE)
"""Without waiting for clients that still commit: the second client has, a moment ago."""
LIST_GROUPS, DESCRIBE_GROUPS, OFFSET_FETCH, LIST_OFFSETS = 16, 15, 9, 2
OFFSET_COMMIT, LEAVE_GROUP, DELETE_GROUPS, OFFSET_DELETE = 8, 13, 42, 47

COMMANDS: Final[Mapping[str, Command]] = {
    "list": Command(("list", *_JSON), LIST_GROUPS),
    "describe-all": Command(("describe", "--all-groups", *_JSON), OFFSET_FETCH),
    "describe": Command(("describe", *_JSON), DESCRIBE_GROUPS),  # and the names of two groups
    "lag": Command(("lag", *_JSON), OFFSET_FETCH),
    "check": Command(("check", "--all-groups", "--max-lag", "1000000", *_JSON), OFFSET_FETCH),
    "watch": Command(("watch", "--count", "2", "--interval", "100ms"), OFFSET_FETCH),
    "exporter": Command(("exporter", "--interval", "1h"), OFFSET_FETCH),
    "explain": Command(("explain", "--all-groups", *_JSON), DESCRIBE_GROUPS),
    "dropin-list": Command(("--list",), LIST_GROUPS),
    "dropin-describe": Command(("--describe", "--all-groups"), OFFSET_FETCH),
    "reset": Command(
        ("reset-offsets", "--regex", "target-.*", "--all-topics", "--to-offset", "17", *_NOW), OFFSET_COMMIT, True
    ),
    "undo": Command(("reset-offsets", "--from-file", "undo.json", *_NOW), OFFSET_COMMIT, True),
    "delete": Command(("delete", "--regex", "target-.*", *_NOW), DELETE_GROUPS, True),
    "delete-offsets": Command(
        ("delete-offsets", "--regex", "target-.*", "--topic", "load-0", *_NOW), OFFSET_DELETE, True
    ),
    "remove-members": Command(("remove-members", "--regex", "held-.*", "--all-members", *_EXECUTE), LEAVE_GROUP, True),
}

ALL: Final = frozenset({1, 2, 3})
OTHERS: Final = ALL - {VICTIM}

Begin = Callable[[FaultyCluster, Command, Bounds], AbstractContextManager[None]]


class Trouble(NamedTuple):
    """A row of the table: how it begins, which ends with the block, and whom it does not touch."""

    begin: Begin
    healthy: frozenset[int] = OTHERS
    """The brokers that must answer in time."""
    replicated: bool = False
    """Whether it is for a cluster whose logs have three replicas."""


def _from_the_start(fault: Fault, *brokers: int, healthy: frozenset[int] = OTHERS) -> Trouble:
    return Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.proxy.faulty(fault, *brokers), healthy)


def _midway(fault: Fault) -> Trouble:
    """From when the command sends the request that matters."""
    return Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.proxy.faulty_at([command.at], fault, VICTIM))


def _answers(**what: object) -> Fault:
    return Fault(directions=("responses",), **what)  # type: ignore[arg-type]


AFTER_VERSIONS: Final = 800
"""Bytes into the second response on a connection: that to ApiVersions has 728."""

TROUBLES: Final[Mapping[str, Trouble]] = {
    "none": _from_the_start(Fault(), healthy=ALL),
    "latency": _from_the_start(Fault(delay=0.04, jitter=0.02), healthy=ALL),
    "delayed-answers": _from_the_start(_answers(delay=0.2), VICTIM, healthy=ALL),
    # Within a broker timeout: the commit log of the last 90 s, which all cells write to.
    "bandwidth": _from_the_start(Fault(rate=400_000), healthy=ALL),
    "too-slow": Trouble(
        lambda faulty_cluster, command, bounds: faulty_cluster.proxy.faulty(
            Fault(delay=2 * bounds.broker_timeout), VICTIM
        )
    ),
    "cut-hello": _from_the_start(_answers(cut=300), VICTIM),
    "cut-answer": _from_the_start(_answers(cut=AFTER_VERSIONS), VICTIM),
    "cut-request": _from_the_start(Fault(cut=50, directions=("requests",)), VICTIM),
    "cut-once": _from_the_start(_answers(cut=AFTER_VERSIONS, times=1), VICTIM),
    "half-open": _from_the_start(Fault(half_open=True), VICTIM),
    "reset": _from_the_start(Fault(reset=True), VICTIM),
    "black-hole": _from_the_start(Fault(black_hole=True), VICTIM),
    "all-black": _from_the_start(Fault(black_hole=True), healthy=frozenset()),
    "stopped": Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.paused()),
    "killed": Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.killed()),
    "fenced": Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.fenced()),
    "midway-mute": _midway(_answers(mute=True)),
    "midway-cut": _midway(_answers(cut=9)),
    "midway-half-open": _midway(Fault(half_open=True)),
    "midway-reset": _midway(Fault(reset=True)),
    "midway-stopped": Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.paused_at(command.at)),
    "midway-killed": Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.killed_at(command.at)),
    "rolling": Trouble(lambda faulty_cluster, command, bounds: faulty_cluster.restarting(), replicated=True),
}


class Expected(NamedTuple):
    """What must come of a command under a fault."""

    codes: frozenset[int]
    """Exit codes of most commands; of ``check`` see :func:`codes`."""
    others: bool
    """Whether what the other brokers know must be there. What the victim knows may be there; if not, it is named."""
    victim: bool
    """Whether what the victim knows must be there, too."""
    named: bool
    """Whether broker 2, or what it knows, must be named as missing."""
    brokers: int | None
    """How long it may take: the time of this many brokers that do not answer; None: all of ``--timeout``."""

    def seconds(self, bounds: Bounds) -> float:
        return bounds.timeout if self.brokers is None else self.brokers * bounds.broker_timeout


WORDS: Final[Mapping[str, Expected]] = {
    "whole": Expected(frozenset({0}), True, True, False, None),
    "part": Expected(frozenset({1}), True, False, True, 2),
    "brief": Expected(frozenset({0, 1}), True, False, False, 2),
    "none": Expected(frozenset({1}), False, False, True, None),
}
"""``whole``: all of it, exit 0. ``part``: all that the others know, the victim named, exit 1. ``brief``: the fault may
be over before it is noticed: whole or part. ``none``: nothing can be known, which is said, exit 1."""

TABLE: Final = """
                 list  describe-all describe lag   check watch exporter explain dropin-list dropin-describe reset undo  delete delete-offsets remove-members
none             whole whole        whole    whole whole whole whole    whole   whole       whole           whole whole whole  whole          whole
latency          whole whole        whole    whole whole whole whole    whole   whole       whole           whole whole whole  whole          whole
delayed-answers  whole whole        whole    whole whole whole whole    whole   whole       whole           whole whole whole  whole          whole
bandwidth        whole whole        whole    whole whole whole whole    whole   whole       whole           whole whole whole  whole          whole
too-slow         part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
cut-hello        part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
cut-answer       part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
cut-request      part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
cut-once         brief brief        brief    brief brief brief brief    brief   brief       brief           brief brief brief  brief          brief
half-open        part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
reset            part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
black-hole       part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
all-black        none  none         none     none  none  none  none     none    none        none            none  none  none   none           none
stopped          part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
killed           part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
fenced           part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
midway-mute      part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
midway-cut       part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
midway-half-open part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
midway-reset     part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
midway-stopped   part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
midway-killed    part  part         part     part  part  part  part     part    part        part            part  part  part   part           part
rolling          brief brief        brief    brief brief brief brief    brief   brief       brief           brief brief brief  brief          brief
"""  # noqa: E501

PENDING: Final[Mapping[tuple[str, str], str]] = {}
"""(fault, command) -> why it is not yet as the table says."""

_CI: Final[Mapping[str, str]] = {
    "none": "describe-all",
    "latency": "lag",
    "delayed-answers": "explain",
    "bandwidth": "describe-all",
    "too-slow": "reset",
    "cut-hello": "list",
    "cut-answer": "describe-all",
    "cut-request": "reset",
    "cut-once": "check",
    "half-open": "describe-all watch",
    "reset": "explain",
    "black-hole": "describe exporter dropin-list",
    "all-black": "describe-all",
    "stopped": "describe-all dropin-describe",
    "killed": "describe-all",
    "fenced": "list",
    "midway-mute": "undo",
    "midway-cut": "reset",
    "midway-half-open": "reset delete",
    "midway-reset": "delete-offsets",
    "midway-stopped": "remove-members",
    "midway-killed": "reset",
    "rolling": "reset",
}
IN_CI: Final = frozenset((fault, command) for fault, commands in _CI.items() for command in commands.split())
"""Cells that are tried at each change; the others are by ``make soak``."""


def cells() -> dict[tuple[str, str], str]:
    """(fault, command) -> a word of :data:`WORDS`."""
    header, *lines = TABLE.strip("\n").splitlines()
    commands = header.split()
    found = {}
    for line in lines:
        fault, *words = line.split()
        found |= {(fault, command): word for command, word in zip(commands, words, strict=True)}
    return found


def codes(command: str, word: str) -> frozenset[int]:
    """Exit codes: UNKNOWN is 3 for ``check``; the exporter stays."""
    if command == "exporter":
        return frozenset({0})
    expected = WORDS[word].codes
    return frozenset(3 if code else 0 for code in expected) if command == "check" else expected
