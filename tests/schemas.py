"""Validate outputs of commands, and the files that they write, with the JSON Schemas in the package."""

from __future__ import annotations

import glob
import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
from click.shell_completion import _resolve_context

from kgroups.cli.frame.known_values import view_of_line
from kgroups.cli.main import cli
from kgroups.schemas import PREFIX, find_schema, item_schema, schema_of, whole_items

LARGE = 4_000_000
"""Characters above which an output is not validated: tests of large clusters are about time and memory."""


@cache
def validator(name: str, *, items: bool = False, columns: bool = True) -> Any:
    """Return a validator.

    :param items: of one line of jsonl, in place of the envelope.
    :param columns: whether the columns are chosen; otherwise rows have every key.
    """
    found = find_schema(name)
    assert found, f"{name} has no schema: add one to kgroups/schemas/contents.py"
    schema = schema_of(found)
    if schema["x-format"] == "json" and "item" in schema.get("$defs", {}):
        schema = schema if columns else whole_items(schema)
        schema = item_schema(schema) if items else schema
    return jsonschema_rs.Draft202012Validator(schema)


def validate(value: Any, name: str, **options: bool) -> None:
    """Check a value; the message names the key."""
    found = next(iter(validator(name, **options).iter_errors(value)), None)
    if found:
        place = "/".join(map(str, found.instance_path)) or "the whole value"
        raise AssertionError(f"{name}: {place}: {found.message}; see kgroups/schemas/ and docs/stability.md")


def validate_output(words: Sequence[str], out: str) -> None:
    """Check the JSON that a command printed."""
    if not out.startswith("{") or len(out) > LARGE:
        return
    try:
        document = json.loads(out)
    except ValueError:  # several lines, not JSON, or the output of an interrupted command
        document = None
    name = document.get("schema") if isinstance(document, dict) else None
    if isinstance(name, str) and name.startswith(PREFIX):
        validate(document, name, columns=_chooses_columns(words))
    else:
        _validate_lines(words, out)


def _schema_of_line(line: str) -> str | None:
    """Return the schema that a line names, if it is a whole JSON value."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    name = found.get("schema") if isinstance(found, dict) else None
    return name if isinstance(name, str) and name.startswith(PREFIX) else None


def _chooses_columns(words: Sequence[str]) -> bool:
    return any(word.startswith("--columns") for word in words)


def _validate_lines(words: Sequence[str], out: str) -> None:
    name = _schema_of_line(out.partition("\n")[0]) or (_view_of(words) if "jsonl" in words else None)
    if name:
        for line in out.splitlines():
            validate(json.loads(line), name, items=True, columns=_chooses_columns(words))


def _view_of(words: Sequence[str]) -> str | None:
    """Return the view that a command line selects."""
    context = _resolve_context(cli, {}, "kgroups", [str(word) for word in words])
    view = view_of_line(context)
    is_history = context.parent is not None and context.parent.command.name == "history"
    return None if view is None else f"history-{view.name}" if is_history else view.name


def validate_files(words: Sequence[str], since: int) -> None:
    """Check the files that a command line names, if they were written meanwhile.

    :param since: nanoseconds since 1970.
    """
    for word in words:
        path = Path(str(word).rpartition("=")[2])
        if len(str(path)) < 500 and path.is_file():
            for written in path.parent.glob(f"{glob.escape(path.stem)}*"):  # also the skipped records of an undo file
                if written.is_file() and written.stat().st_mtime_ns >= since:
                    validate_file(written.read_bytes())


def validate_file(data: bytes) -> str | None:
    """Check a file of JSON or JSON Lines that names its schema; return the name."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if not data.startswith(b'{"schema"') or len(data) > LARGE:
        return None
    text = data.decode()
    name = _schema_of_line(text.partition("\n")[0])
    if name is None:  # a document of several lines
        document = json.loads(text)
        validate(document, document["schema"])
        return str(document["schema"])
    for line in text.split("\n")[:-1]:  # a truncated last line is ignored when the file is read
        validate(json.loads(line), name)
    return name
