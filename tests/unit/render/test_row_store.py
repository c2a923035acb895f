"""Rows in a store: the same in every format, in memory or on disk."""

from __future__ import annotations

import io
import tempfile
from operator import itemgetter
from typing import NamedTuple

import pytest

from kgroups.model.cluster import Node
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render import plain, table
from kgroups.render.offset_view import OFFSETS
from kgroups.render.output import write_outcome
from kgroups.render.table import RowStore
from kgroups.render.views import Column, Sooner, Tier, some_true

NAMES = ["a", "-", "ä", "名", "line\nbreak", " rim ", "b" * 40, "back\\slash"]


@pytest.fixture(params=["memory", "file", "no folder"])
def low_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so low that a few rows pass them."""
    monkeypatch.setattr(table, "CHUNK_ROWS", 7)
    monkeypatch.setattr(table, "MAX_PLAIN_ROWS", 20)
    monkeypatch.setattr(table, "IN_MEMORY", 1 << 20 if request.param == "memory" else 100)
    monkeypatch.setattr(plain, "MAX_DISTINCT", 5)
    if request.param == "no folder":

        def refuse(*words: object, **options: object) -> None:
            raise OSError("read-only file system")

        monkeypatch.setattr(tempfile, "TemporaryFile", refuse)


class Some(NamedTuple):
    name: str
    node: Node | None
    flag: bool | None
    number: int | None


def some(count: int) -> list[Some]:
    return [Some(f"n{at:03}", Node(at, "h", 1), at == 45 or None, at if at % 3 else None) for at in range(count)]


@pytest.mark.usefixtures("low_limits")
@pytest.mark.parametrize("count", [0, 1, 20, 21, 28, 100])
def test_store_returns_appended_rows(count: int) -> None:
    rows, kept = some(count), RowStore()
    for at in range(0, count, 9):
        kept.append(rows[at : at + 9])
    assert len(kept) == count
    for _ in range(2):
        assert list(kept) == [tuple(row) for row in rows]
        slices = [tuple(zip(*columns, strict=True)) for columns in kept.columns()]
        assert [row for each in slices for row in each] == [tuple(row) for row in rows]


@pytest.mark.usefixtures("low_limits")
def test_store_witnesses_have_every_type_and_both_booleans() -> None:
    sooner = Sooner(Tier.BASE, some_true)
    kept = RowStore(Column(str(at), str(at), value=itemgetter(at), sooner=sooner) for at in (2, 3))
    kept.append(some(100))
    assert len(kept.representatives()) < 40
    assert {True, None} <= {row[2] for row in kept.representatives()}
    assert {int, type(None)} <= {type(row[3]) for row in kept.representatives()}


@pytest.mark.usefixtures("low_limits")
def test_store_inserts_rows_after_others_of_their_group() -> None:
    kept = RowStore()
    kept.append((f"g{at:02}", "old") for at in range(50))
    kept.insert([("g99", "new"), ("g07", "new"), ("a", "new")])
    assert len(kept) == 53
    assert list(kept)[:2] == [("a", "new"), ("g00", "old")]
    assert list(kept)[8:10] == [("g07", "old"), ("g07", "new")]
    assert list(kept)[-1] == ("g99", "new")


def offsets(count: int, notes: bool) -> list[OffsetRow]:
    groups = sorted(f"{name}{at:03}" for name in NAMES for at in range(count // len(NAMES) // 2))
    return [
        OffsetRow(
            group,
            topic=NAMES[at % 8] if at % 5 else None,
            partition=partition if at % 5 else None,
            current_offset=at * 1000 or None,
            log_start_offset=0,
            lag=None if at % 7 else -at,
            consumer_id="m",
            host="/h",
            client_id=NAMES[at % 3],
            note="lost" if notes and at == count - 1 else None,
        )
        for at, (group, partition) in enumerate((group, partition) for group in groups for partition in range(2))
    ]


@pytest.mark.usefixtures("low_limits")
@pytest.mark.parametrize("count", [0, 64, 320, 640])
@pytest.mark.parametrize("fmt", ["plain", "json", "jsonl", "csv", "table", "pipe"])
@pytest.mark.parametrize("sort", [None, "-lag"])
def test_store_output_equals_output_of_a_list(fmt: str, count: int, sort: str | None) -> None:
    rows = offsets(count, notes=count > 64)
    kept = RowStore(OFFSETS.columns)
    kept.append(rows)
    failures = (Failure(Scope.GROUP, "x", "gone"),)
    written = []
    for items in (tuple(rows), kept):
        outcome: Outcome[OffsetRow] = Outcome(items, failures, ("a note",))  # type: ignore[arg-type]
        for headers in (True, False):
            stream = io.StringIO()
            options = {"fmt": fmt, "stream": stream, "sort": sort, "headers": headers, "tier": Tier.VERBOSE}
            write_outcome(outcome, OFFSETS, **options, cluster_id="c")  # type: ignore[arg-type]
            written.append(stream.getvalue())
    assert written[:2] == written[2:]
