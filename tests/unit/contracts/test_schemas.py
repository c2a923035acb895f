"""The schemas: valid, complete, frozen, and no change without a new version."""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from kgroups import render
from kgroups.cli.main import cli
from kgroups.render.views import Column, View
from kgroups.schemas import find_schema, item_schema, schema_names, schema_of
from kgroups.schemas.contents import TABLES
from kgroups.schemas.views import described
from tests.conftest import GOLDEN
from tests.contracts.freeze import DIGESTS, FROZEN, removed, shape_of
from tests.contracts.generate import generated, main, outdated
from tests.contracts.python_api import API, breaking_changes, released, stub
from tests.schemas import validate

NAMES = schema_names()


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return generated()


def test_frozen_lists_are_up_to_date(texts: dict[Path, str]) -> None:
    names = outdated(texts)
    assert not names, f"run python -m tests.contracts.generate, and read docs/stability.md: {' '.join(names)}"


def test_nothing_that_programs_rely_on_is_removed_or_changed(texts: dict[Path, str]) -> None:
    """A line here needs a new version of the schema, a deprecation, or a major version: see docs/stability.md."""
    assert removed({path.name: text for path, text in texts.items() if path.parent == FROZEN}) == []


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_schema_is_valid_and_describes_each_key(name: Any) -> None:
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    assert (schema["x-name"], schema["x-version"]) == name and schema["title"]
    assert schema["$id"] == f"urn:kgroups:{name.name}:v{name.version}"
    assert [key for key, value in _properties(schema) if not value.get("description")] == []


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        if isinstance(found := schema.get("properties"), dict) and "description" in schema:
            yield from found.items()
        for value in schema.values():
            yield from _properties(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _properties(value)


def test_every_view_has_a_schema() -> None:
    modules = [importlib.import_module(f"kgroups.render.{each.name}") for each in pkgutil.iter_modules(render.__path__)]
    views = {value.name for module in modules for value in vars(module).values() if isinstance(value, View)}
    parts_of_explain = {"explain-members", "explain-share-partitions", "explain-what-if"}
    assert views - parts_of_explain == TABLES.keys()


@pytest.mark.parametrize("text", ["offsets", "offsets/v1", "kgroups/offsets/v1"])
def test_schema_is_found_by_each_form_of_its_name(text: str) -> None:
    assert str(find_schema(text)) == "kgroups/offsets/v1"


def test_latest_version_is_found_without_a_version() -> None:
    assert [str(find_schema(text)) for text in ("undo", "undo/v1")] == ["kgroups/undo/v2", "kgroups/undo/v1"]
    assert find_schema("offsets/v9") is None and find_schema("offset") is None


ROW = {"group": "g", "lag": 1, "partition": None}
ENVELOPE = {"schema": "kgroups/offsets/v1", "cluster_id": None, "failures": [], "notices": [], "missing_acls": []}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": [{**ROW, "lags": 1}]}, "'lags' was unexpected"),
        ({"items": [{**ROW, "lag": "1"}]}, "items/0/lag"),
        ({"items": [{**ROW, "group": None}]}, "items/0/group"),
        ({"items": [ROW], "notes": []}, "'notes' was unexpected"),
        ({"items": [ROW], "cluster_id": 1}, "cluster_id"),
        ({"items": [ROW], "failures": [{"scope": "group"}]}, "failures/0"),
        ({}, '"items" is a required property'),
    ],
)
def test_undocumented_key_and_other_type_are_found(change: dict[str, object], message: str) -> None:
    validate({**ENVELOPE, "items": [ROW]}, "offsets")
    with pytest.raises(AssertionError, match=message):
        validate({**ENVELOPE, **change}, "offsets")


def test_row_without_a_column_is_valid_only_if_columns_are_chosen() -> None:
    validate(ROW, "offsets", items=True)
    with pytest.raises(AssertionError, match='"topic" is a required property'):
        validate(ROW, "offsets", items=True, columns=False)


def test_schema_of_one_item_stands_alone() -> None:
    schema = item_schema(schema_of(next(name for name in NAMES if name.name == "members")))
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:kgroups:members-item:v1" and "assignment" in schema["$defs"]
    assert Draft202012Validator(schema).is_valid(
        {"group": "g", "current_assignment": [{"topic": "t", "partitions": [0]}]}
    )


GOLDEN_JSON = [
    (path, view)
    for view in ("list", "members", "offsets", "reset-offsets")
    for path in sorted((GOLDEN / "render").glob(f"{view}*.json*.expected"))
    if path.name.startswith((f"{view}.", f"{view}-done."))
]


def test_every_golden_file_in_json_is_validated() -> None:
    assert {path for path, _ in GOLDEN_JSON} == set(GOLDEN.rglob("*.json*.expected"))


@pytest.mark.parametrize(("path", "view"), GOLDEN_JSON, ids=lambda value: getattr(value, "name", value))
def test_golden_file_fits_its_schema(path: Path, view: str) -> None:
    text = path.read_text("utf-8")
    if ".jsonl" in path.name:
        for line in text.splitlines():
            validate(json.loads(line), view, items=True, columns=False)
    else:
        validate(json.loads(text), json.loads(text)["schema"], columns=False)


def test_removed_key_is_named(texts: dict[Path, str]) -> None:
    lists = {path.name: text for path, text in texts.items() if path.parent == FROZEN}
    line = next(line for line in lists["schemas.txt"].splitlines() if line.startswith("offsets/v1 #item .lag?"))
    lists["schemas.txt"] = lists["schemas.txt"].replace(f"{line}\n", "")
    assert removed(lists) == [f"schemas.txt: removed or changed: {line}"]


def test_digest_is_that_of_the_printed_schema(texts: dict[Path, str]) -> None:
    lines = texts[FROZEN / DIGESTS].splitlines()
    assert len(lines) == len(NAMES) + 1
    for command in ("schema offsets/v1", "schema snapshot/v1", "history schema"):
        done = CliRunner().invoke(cli, command.split(), catch_exceptions=False)
        assert f"kgroups {command} {hashlib.sha256(done.stdout_bytes).hexdigest()}" in lines


def test_changed_text_of_a_schema_is_outdated_and_breaks_nothing(texts: dict[Path, str]) -> None:
    first, _, rest = texts[FROZEN / DIGESTS].partition("\n")
    changed = {**texts, FROZEN / DIGESTS: f"{first[:-1]}{'0' if first[-1] != '0' else '1'}\n{rest}"}
    assert outdated(changed) == [DIGESTS]
    assert removed({path.name: text for path, text in changed.items() if path.parent == FROZEN}) == []


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": ["string", "null"]}])
def test_column_without_a_meaning_is_refused(schema: dict[str, Any]) -> None:
    assert (
        described([Column("A", "a", "Letters. Null: none.")], {"a": {"type": "string"}})["a"]["description"]
        == "Letters."
    )
    with pytest.raises(AssertionError, match="each column has a meaning"):
        described([Column("A", "a")], {"a": schema})


def test_shape_has_keys_types_and_values_and_no_texts() -> None:
    schema: dict[str, Any] = {
        "x-name": "n",
        "x-version": 2,
        "x-format": "json",
        "required": ["a"],
        "properties": {
            "a": {"type": ["integer", "null"], "description": "A."},
            "b": {"enum": ["x", None]},
            "c": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
    }
    assert list(shape_of(schema)) == [
        "n/v2 format json",
        "n/v2 .a integer|null",
        "n/v2 .b? enum",
        'n/v2 .b = "x"',
        "n/v2 .b = null",
        "n/v2 .c? array",
        "n/v2 .c [] node",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    async def undo(self, change:", "    async def revert(self, change:", "AsyncCluster.undo: .*removed"),
        ("by: str = 'group'", "by: str = 'topic'", r"Cluster.lag\(by\): .*default was changed"),
        ("commit_window: float = WINDOW", "commit_window: float", r"commit_window\): .*required"),
        ("    lag: Threshold | None = None\n", "", "Limits.lag: .*removed"),
        ("class Fleet:", "class Clusters:", "Fleet: .*removed"),
        ("class UsageError(KgroupsError):", "class UsageError(ValueError):", "UsageError: .*Base class"),
    ],
)
def test_change_of_the_python_api_is_named(old: str, new: str, message: str) -> None:
    api = stub()
    assert old in api
    assert re.search(message, "\n".join(breaking_changes(api, api.replace(old, new))))


def test_addition_to_the_python_api_breaks_nothing() -> None:
    api = stub()
    assert (
        breaking_changes(
            api, f"{api}\nclass Added: ...\n".replace("by: str = 'group'", "by: str = 'group', new: int = 1")
        )
        == []
    )


def test_python_api_is_compatible_with_the_last_release(tmp_path: Path) -> None:
    """With that of the last tag v*, if there is one of this major version."""
    assert breaking_changes(released() or stub()) == []
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v0.1.0"], ["tag", "other"]):
        if words[0] == "add":
            (tmp_path / "tests" / "contracts" / "frozen").mkdir(parents=True)
            (tmp_path / "tests" / "contracts" / "frozen" / API.name).write_text(f"{stub()}\nclass Released: ...\n")
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", tmp_path, *who, *words], check=True)
    assert breaking_changes(released(tmp_path, "0.2.0")) == ["Python API: Released: Public object was removed"]
    assert released(tmp_path, "1.0.0") is None and released(tmp_path / "no-such", "0.2.0") is None


def test_generator_refuses_what_breaks_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.contracts.generate.generated", dict)
    broken = ["commands.txt: removed or changed: kgroups list"]
    monkeypatch.setattr("tests.contracts.generate.removed", lambda _: broken)
    assert "kgroups list" in str(main([])) and "docs/stability.md" in str(main(["--check"]))
