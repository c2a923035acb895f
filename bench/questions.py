"""What is asked, by whom, and how much faster kgroups has to be. A further peer or question is a few lines here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.sandbox import Sandbox

from .answers import Reader, json_rows, lines, text_rows
from .lean import Lean
from .world import Size

OURS = "kgroups"
JSON = "kgroups -o json"
SHIPPED = "kafka-consumer-groups"
QUICK = "kafka-consumer-groups, quick JVM"
ADMIN = "AdminClient script, written to win"
PLAIN = "AdminClient script, group by group"
CLICK = "python -c 'import click'"

MANY = 10_000
"""Groups from which on the higher targets hold."""

SHORT = 3
"""Rounds for one, where a round takes seconds: what a shared machine does meanwhile may last as long as the command."""

JAVA_PATIENCE = ("--timeout", "600000")
"""Milliseconds. By default the Java tool may give up after 30 s, and it needs longer here."""


class Contender(NamedTuple):
    """One way to get the answer; ``reader`` makes rows of its output, ``None`` where there is nothing to compare."""

    name: str
    command: tuple[str, ...]
    reader: Reader | None


class Target(NamedTuple):
    """How fast kgroups has to be: ``peer`` takes at least so many times its time. Below 1, kgroups may be slower."""

    peer: str
    times: float


class Question(NamedTuple):
    """The first contender is kgroups; the others are measured against it, in turn."""

    name: str
    title: str
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...] = ()
    rss_target: int | None = None
    """Bytes that kgroups' peak memory has to stay under."""
    often: int = SHORT
    """How many rounds for each one asked for."""


def start_up(lean: Lean) -> Question:
    """Needs no cluster."""
    ours = Contender(OURS, (lean.kgroups, "--help"), None)
    click = Contender(CLICK, (lean.python, "-c", "import click"), None)
    return Question("help", f"`kgroups --help` beside `{CLICK}`", (ours, click), (Target(CLICK, 1 / 3),))


def questions(sandbox: Sandbox, size: Size, lean: Lean) -> Iterator[Question]:
    yield _describe_all(sandbox, size, lean)
    group = "stable-00000"
    yield Question(
        "describe-one",
        "Describe one group, with offsets and lag",
        (
            _ours(sandbox, lean, text_rows, "describe", group),
            *_java(sandbox, text_rows, "--describe", "--group", group),
        ),
        (Target(SHIPPED, 8),),
    )
    yield Question(
        "list",
        "List all groups",
        (_ours(sandbox, lean, lines, "list"), *_java(sandbox, lines, "--list")),
        (Target(SHIPPED, 5),) if size.groups >= MANY else (),
    )


def wire_command(sandbox: Sandbox, lean: Lean) -> tuple[str, ...]:
    return _script(lean, "wire.py", sandbox.bootstrap)


def _describe_all(sandbox: Sandbox, size: Size, lean: Lean) -> Question:
    json = _ours(sandbox, lean, json_rows, "describe", "--all-groups", "-o", "json")
    return Question(
        "describe-all",
        "Describe all groups, with offsets and lag",
        (
            _ours(sandbox, lean, text_rows, "describe", "--all-groups"),
            json._replace(name=JSON),
            *_java(sandbox, text_rows, "--describe", "--all-groups", *JAVA_PATIENCE),
            Contender(ADMIN, _script(lean, "peer_adminclient.py", sandbox.bootstrap), text_rows),
            Contender(PLAIN, _script(lean, "peer_plain.py", sandbox.bootstrap), text_rows),
        ),
        (Target(SHIPPED, 40 if size.groups >= MANY else 25), Target(ADMIN, 10), Target(PLAIN, 10)),
        rss_target=120_000_000,
        often=1,
    )


def _ours(sandbox: Sandbox, lean: Lean, reader: Reader, *arguments: str) -> Contender:
    return Contender(OURS, (lean.kgroups, *arguments, "--bootstrap-server", sandbox.bootstrap), reader)


def _java(sandbox: Sandbox, reader: Reader, *arguments: str) -> tuple[Contender, Contender]:
    shipped = sandbox.java_tool_command(*arguments, as_shipped=True)
    quick = sandbox.java_tool_command(*arguments)
    return Contender(SHIPPED, tuple(shipped), reader), Contender(QUICK, tuple(quick), reader)


def _script(lean: Lean, name: str, *arguments: str) -> tuple[str, ...]:
    # Isolated: it shall see what is installed, not what lies about.
    return (lean.python, "-I", str(Path(__file__).with_name(name)), *arguments)
