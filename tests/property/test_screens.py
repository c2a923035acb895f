"""Every table fits every terminal: no word, name, or ID is broken or cut, and no column of an option is omitted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.cells import cell_len

import kgroups
from kgroups.history.contracts import TABLES
from kgroups.model.outcome import Outcome
from kgroups.render.cells import ABSENT, cell_text
from kgroups.render.output import EMPTY_NAME, write_outcome
from kgroups.render.selection import columns_for, select_columns
from kgroups.render.terminal import PROSE
from kgroups.render.views import Align, Column, Tier, View, view_of, with_cluster

PACKAGE = Path(kgroups.__file__).parent
WIDTHS = (80, 100, 120, 200)


def views_in(found: object) -> Iterator[View]:
    """Yield the views in a module's variable."""
    if isinstance(found, View):
        yield found
    elif isinstance(found, tuple | list):
        for each in found:
            yield from views_in(each)
    elif isinstance(found, dict):
        yield from views_in(list(found.values()))


def all_views() -> dict[str, View]:
    """Return all views of the package, those of the tables of history, and each with the column of several clusters."""
    views = {
        name: view_of(name, ((each.name, each.type in ("bigint", "int")) for each in table.columns))
        for name, table in TABLES.items()
    }
    for path in sorted(PACKAGE.rglob("*.py")):
        if re.search(r"\b(View|view_of|_deeper)\(", path.read_text(encoding="utf-8")):
            module = import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
            views |= {
                f"{path.stem}.{view.name}.{len(view.columns)}": view for view in views_in([*vars(module).values()])
            }
    return views | {f"cluster.{name}": with_cluster(view) for name, view in views.items()}


VIEWS = all_views()

LETTERS = "abcdefgxyz0123456789.-_"
STRANGE = ["é", "ṇ̃", "\x1b[31m", "\t", "\n", "\u202e", "͏", "\\", "👩\u200d🔬"]
ANY = [*LETTERS, *"日本語ﾊﾝ한글→é😀 ", *STRANGE]


def _name(random: Random) -> str:
    alphabet, least, most = random.choice([(LETTERS, 1, 30), (LETTERS, 1, 30), (LETTERS, 60, 249), (ANY, 0, 60)])
    return "".join(random.choices(alphabet, k=random.randint(least, most)))


def _sentence(random: Random) -> str:
    words = random.choice([3, 10, 60])
    return " ".join("".join(random.choices(LETTERS, k=random.choice([1, 5, 20, 70]))) for _ in range(words))


def _value(column: Column, random: Random) -> Any:
    if column.align is Align.RIGHT:
        return random.choice([0, 1, random.randint(-(10**6), 10**6), random.randint(0, 2**63 - 1)])
    return _sentence(random) if column.key in PROSE else _name(random)


def _rows(view: View, random: Random) -> list[tuple[object, ...]]:
    """Return rows of a view, in which some columns have no values."""
    places = {column.value(range(1000)): column for column in view.columns}
    empty = {place for place in places if place > 1 and random.random() < 0.1}  # views are sorted by the others
    rows = []
    for _ in range(random.choice([0, 1, 3, 20])):
        row: list[object] = [None] * (max(places) + 1)
        for place in places.keys() - empty:
            if place < 2 or random.random() < 0.8:
                row[place] = _value(places[place], random)
        rows += [tuple(row)] * random.choice([1, 1, 1, 2])
    return rows


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def _text(column: Column, row: tuple[object, ...]) -> str:
    value = column.value(row)
    return EMPTY_NAME if column.key == "group" and value == "" else cell_text(value)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", VIEWS)
def test_table_fits_the_terminal(name: str, width: int, seed: int) -> None:
    random = Random(f"{name} {width} {seed}")
    view = VIEWS[name]
    rows = _rows(view, random)
    tier = random.choice([Tier.BASE, Tier.VERBOSE, Tier.WIDE])
    keys = [column.key for column in view.columns]
    chosen = random.sample(keys, random.randint(1, len(keys))) if random.random() < 0.2 else None
    extra = set(random.sample(keys, len(keys) // 4))
    stream = _Terminal()
    omitted = write_outcome(
        Outcome(rows), view, fmt="table", stream=stream, width=width, tier=tier, columns=chosen, extra=extra
    )
    text = stream.getvalue()
    lines = text.splitlines()

    shown = columns_for(view, tier, extra, rows) if chosen is None else select_columns(view, chosen)
    kept = [column for column in shown if column.header not in omitted]
    _check_lines(lines, width, _unbreakable(view.columns, rows))
    for row in rows:
        for column in kept:
            cell = _text(column, row)
            for piece in cell.split() if column.key in PROSE else [cell]:
                assert piece in text or cell == ABSENT, (column.key, piece)
    header = re.split(r" {2,}", lines[0]) if lines else []
    assert not set(omitted) & set(header)
    assert len(set(omitted)) == len(omitted)
    if chosen is not None or tier is Tier.WIDE:
        assert omitted == ()
    for column in view.columns:
        if column.header in omitted:
            assert column.key not in extra
            assert column.key in view.drops or all(column.value(row) in (None, False) for row in rows)


def _unbreakable(columns: Sequence[Column], rows: Sequence[tuple[object, ...]]) -> set[str]:
    """Return what may be wider than the terminal: a cell, and in prose a word."""
    found = set()
    for column in columns:
        for row in rows:
            cell = _text(column, row)
            found |= set(cell.split()) if column.key in PROSE else {cell.strip()}
    return found


def _check_lines(lines: Sequence[str], width: int, unbreakable: set[str]) -> None:
    for line in lines:
        assert cell_len(line) <= width or line.strip() in unbreakable, (width, line)


def test_views_are_found() -> None:
    names = {view.name for view in VIEWS.values()}
    assert {
        "list",
        "offsets",
        "members",
        "lag",
        "reset-offsets",
        "explain-members",
        "config-check",
        "settings",
    } <= names
    assert {"diff", "profiles", "schemas", "history-test", "commits"} <= names
    assert len(names) > 40
