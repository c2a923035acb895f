"""A store that is damaged, edited, or hostile: one clear line in every command, or the same result."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.main import main
from kgroups.history.load.store import Store
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.history import History

QUERIES: tuple[tuple[str, ...], ...] = (
    ("sql", "select * from commits order by all", "-o", "csv"),
    ("sql", "--untrusted", "select * from commits order by all", "-o", "csv"),
    ("show", "members", "-o", "csv"),
    ("show", "commit_rate", "-o", "csv", "--until", "2026-03-01T13:00"),
    ("stale", "-o", "csv", "--until", "2026-06-01"),
    ("lag", "-o", "csv"),
    ("rebalances", "-o", "csv"),
    ("lag", "--all-clusters", "-o", "csv"),
)
UPKEEP: tuple[tuple[str, ...], ...] = (
    ("compact",),
    ("expire", "--older-than", "2020-01-01"),
    ("materialize",),
    ("upgrade",),
)
OTHERS: tuple[tuple[str, ...], ...] = (
    ("report", "--since", "2026-03-01", "--force", "--file", "{out}"),
    ("test", "--store-only", "-o", "csv"),
)

DEEP = "[" * 100_000 + "]" * 100_000
NASTY: tuple[Any, ...] = (
    None,
    [],
    {},
    [[]],
    {"x": 1},
    "",
    "x",
    "../x",
    "/etc/passwd",
    "\0",
    -1,
    1.5,
    True,
    10**18,
    10**40,
)
TYPES: tuple[Any, ...] = (*(each for each in NASTY if type(each) is not int), -(10**40), 10**40)
FORGEABLE = ("records", "undecoded", "expired", "through", "entry")
"""Members whose numbers nothing else in the store contradicts."""
FREE_TEXT = ("committed_at", "kind")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with entries of several kinds."""
    folder = tmp_path_factory.mktemp("whole") / "store"
    for start in (0, 100, 200):
        history = History()
        history.hole(start)
        history.read(0, (start, start + 100), 100, (start, start + 100))
        for number in range(20):
            history.commit(f"g-{number % 4}", start + number, 10 * number + start)
            history.head(start + number, 1000)
        history.snapshot(f"h-{start}", start, 1, ["m-1", "m-2"])
        history.stored_in(folder, "east")
    materialize(Store(str(folder), "east"))
    return folder


def run(words: tuple[str, ...], store: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, list[str]]:
    out = str(store.parent / "report.html")
    code = main(("history", words[0], "--store", str(store), *(word.format(out=out) for word in words[1:])))
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    errors = [line for line in printed.err.splitlines() if line.startswith(("kgroups: error: ", "kgroups: cluster "))]
    assert code == 0 or words[0] == "test" or len(errors) == 1, printed.err
    return code, printed.out, errors


def entries_of(store: Path) -> list[Path]:
    return sorted((store / "_manifest" / "east").glob("0*.json"))


def data_of(store: Path) -> list[Path]:
    return sorted(store.rglob("date=*/*.parquet"))


def edit_member(store: Path, chance: random.Random) -> str:
    """Replace or delete a member of an entry, or of one of its files."""
    file = chance.choice(entries_of(store))
    data = json.loads(file.read_text())
    place = chance.choice([data, *data["files"] * 2])
    name = chance.choice(sorted(place))
    before = place[name]
    if name in FREE_TEXT or (chance.random() < 0.1 and name not in FORGEABLE and name != "share_positions"):
        del place[name]
        after: Any = "deleted"
    else:
        after = place[name] = chance.choice(TYPES if name in (*FORGEABLE, "positions", "share_positions") else NASTY)
    file.write_text(json.dumps(data))
    return f"{file.name}: {name} {before!r:.80} -> {after!r:.80}" * (before != after)


def edit_number(store: Path, chance: random.Random) -> str:
    """Change a number of a file a little."""
    file = chance.choice(entries_of(store))
    data = json.loads(file.read_text())
    place = chance.choice(data["files"])
    name = chance.choice(("rows", "size", "first", "last"))
    place[name] += chance.choice((-1, 1))
    file.write_text(json.dumps(data))
    return f"{file.name}: {name} of {place['path']}"


def edit_structure(store: Path, chance: random.Random) -> str:
    """Hide entries, repeat files, or claim what the files do not have."""
    file = chance.choice(entries_of(store))
    data = json.loads(file.read_text())
    edit = chance.choice(("replaces", "repeat", "number", "table", "through"))
    if edit == "replaces":
        data["replaces"] = [max(0, data["number"] - 1)]
    elif edit == "repeat":
        data["files"].append(data["files"][0])
    elif edit == "number":
        data["number"] += 1
    elif edit == "table":
        data["files"][0]["table"] = "members" if data["files"][0]["table"] != "members" else "commits"
    else:
        data["through"] = data["number"]
    file.write_text(json.dumps(data))
    return f"{file.name}: {edit}"


def replace_json(store: Path, chance: random.Random) -> str:
    """Write something else to a JSON file of the store."""
    files = [*entries_of(store), store / "_kgroups.json", store / "_manifest" / "east" / "_cluster.json"]
    file = chance.choice(files)
    text = chance.choice(
        ("", "{", "[]", "null", "1", "{}", DEEP, '{"kind": ' + DEEP + "}", "\xff", file.read_text()[:-9])
    )
    file.write_bytes(text.encode("latin-1"))
    return f"{file.name} is {text[:20]!r}"


def lose_entry(store: Path, chance: random.Random) -> str:
    file = chance.choice(entries_of(store)[:-1])
    file.unlink()
    return f"{file.name} is lost"


def damage_data(store: Path, chance: random.Random) -> str:
    """Truncate, extend, delete, or overwrite a data file, or swap two."""
    file = chance.choice(data_of(store))
    content = file.read_bytes()
    how = chance.choice(("truncate", "extend", "delete", "start", "end", "middle", "swap"))
    if how == "delete":
        file.unlink()
    elif how == "swap":
        other = chance.choice([each for each in data_of(store) if each != file])
        file.write_bytes(other.read_bytes())
        other.write_bytes(content)
    else:
        noise, middle = chance.randbytes(200), len(content) // 2
        content = {
            "truncate": content[: chance.randrange(len(content))],
            "extend": content + b"x",
            "start": noise + content[200:],
            "end": content[:-200] + noise,
            "middle": content[: middle - 100] + noise + content[middle + 100 :],
        }[how]
        file.write_bytes(content)
    return f"{file.relative_to(store)}: {how}"


MUTATIONS: tuple[Callable[[Path, random.Random], str], ...] = (
    *(edit_member,) * 3,
    *(edit_number, edit_structure, replace_json, lose_entry),
    *(damage_data,) * 3,
)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_store_is_one_line_or_has_the_same_rows(
    whole: Path, tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(seed)
    store = tmp_path / "store"
    shutil.copytree(whole, store)
    change = MUTATIONS[seed % len(MUTATIONS)](store, chance)
    words = chance.choice(QUERIES)
    truth = run(words, whole, capsys)
    code, out, errors = run(words, store, capsys)
    assert truth[0] == 0
    assert code != 0 or out == truth[1], change
    assert all("store" in line or ".parquet" in line or ".json" in line for line in errors), (change, errors)
    for others in (chance.choice(OTHERS), chance.choice(UPKEEP)):
        before = run(words, store, capsys)[:2]
        code, _, errors = run(others, store, capsys)
        assert code == 0 or errors or others[0] == "test", change
        assert run(words, store, capsys)[:2] == before or others[0] == "expire", (change, others)


def test_lost_entry_before_a_replaced_one_is_one_line_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each step of materializing replaces the previous one, whose entry is deleted: such gaps hide nothing."""
    store = tmp_path / "store"
    for start in range(4):
        history = History()
        history.hole(start)
        history.read(0, (start, start + 1), 1, (start, start))
        history.commit("g", start, 10 * start)
        materialize(history.stored_in(store, "east"))
    Store(str(store), "east").delete_replaced(timedelta())
    assert [int(entry.stem) for entry in entries_of(store)] == [0, 2, 4, 6, 7]
    assert run(("lag", "-o", "csv"), store, capsys)[0] == 0
    for number, entry in enumerate(entries_of(store)[:-1]):
        content = entry.read_bytes()
        entry.unlink()
        for words in (*QUERIES, *UPKEEP, *OTHERS) if number == 1 else QUERIES[:1]:
            code, out, errors = run(words, store, capsys)
            assert (code, len(errors)) == (1, 1) and f"entry {int(entry.stem)} is missing" in errors[0], (words, out)
        entry.write_bytes(content)
    assert run(("lag", "-o", "csv"), store, capsys)[0] == 0


def test_whole_store_is_used_by_every_command(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise, the test above could pass because a command fails anyway."""
    store = tmp_path / "store"
    shutil.copytree(whole, store)
    for words in (*QUERIES, ("report", "--since", "2026-03-01", "--force", "--file", "{out}"), *UPKEEP):
        assert run(words, store, capsys)[0] == 0, words
