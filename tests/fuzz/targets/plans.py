"""Plan and undo files, CSV and JSON: read or rejected with a UsageError; written files round-trip."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kgroups.errors import UsageError
from kgroups.model.operations.plan_file import parse_plan


def seeds() -> Iterator[bytes]:
    yield b'g,t,0,5\ng,"t,""x",1,6\n'
    yield b"t,0,5\nt,1,6\n"
    yield (
        b'{"schema": "kgroups/undo/v1", "items": [\n{"group": "g", "topic": "t", "partition": 0, "offset": 5, '
        b'"leader_epoch": 1, "metadata": "m"},\n{"group": "g", "topic": "t", "partition": 1, "offset": null}\n]}'
    )
    yield (
        b'{"schema": "kgroups/plan/v1", "items": ['
        b'{"group": "g", "topic": "t", "partition": 0, "offset": 5, "type": "Share"}]}'
    )


def one(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with suppress(UsageError):
        plan = parse_plan(text, "plan")
        assert plan.rows
        with suppress(UsageError):
            plan.scenario("only")
        with suppress(UsageError):
            plan.scenario(None)
