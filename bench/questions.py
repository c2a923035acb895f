"""Define queries, contenders, and targets for the speed of kgroups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.sandbox import Sandbox

from .answers import Reader, json_rows, lines, text_rows
from .cluster import Size
from .lean import Lean

OURS = "kgroups"
JSON = "kgroups -o json"
SHIPPED = "kafka-consumer-groups"
QUICK = "kafka-consumer-groups, quick JVM"
ADMIN = "AdminClient script, optimized"
PLAIN = "AdminClient script, group by group"
CLICK = "python -c 'import click'"

MANY = 10_000
"""Number of groups from which the higher targets apply."""

SHORT = 3
"""Factor for the number of rounds of short commands, which other load on the machine affects more."""

JAVA_PATIENCE = ("--timeout", "600000")
"""In milliseconds. The Java tool needs more than its default of 30 s here."""


class Contender(NamedTuple):
    """A command that answers a query; ``reader`` reads rows of its output, ``None`` if nothing is compared."""

    name: str
    command: tuple[str, ...]
    reader: Reader | None


class Target(NamedTuple):
    """A required ratio of the time of ``peer`` to that of kgroups. Below 1, kgroups may be slower."""

    peer: str
    times: float


class Question(NamedTuple):
    """A query. The first contender is kgroups; the others are compared with it."""

    name: str
    title: str
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...] = ()
    rss_target: int | None = None
    """Upper bound of kgroups' peak memory, in bytes."""
    often: int = SHORT
    """Rounds per requested round."""


def start_up(lean: Lean) -> Question:
    """Return the query for the start-up time, which needs no cluster."""
    ours = Contender(OURS, (lean.kgroups, "--help"), None)
    click = Contender(CLICK, (lean.python, "-c", "import click"), None)
    return Question("help", f"`kgroups --help` and `{CLICK}`", (ours, click), (Target(CLICK, 1 / 3),))


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
    # -I: import only installed packages, not files in the working directory
    return (lean.python, "-I", str(Path(__file__).with_name(name)), *arguments)
