"""Frozen lists: what other programs rely on, one line each. A line may be added, and not be removed silently."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import click

from kgroups.cli.frame.help_json import command_object
from kgroups.cli.main import cli
from kgroups.history.contracts.json_schema import all_schemas
from kgroups.schemas.compose import definition
from kgroups.schemas.contents import TABLES
from kgroups.schemas.definitions import DEFINITIONS
from kgroups.schemas.values import Schema
from kgroups.schemas.views import view_named
from kgroups.watch.state.group_samples import GroupSample

from .python_api import API, breaking_changes, stub

FROZEN = Path(__file__).parent / "frozen"

SHARED = {name: definition(name) for name in (*DEFINITIONS, "user_data")}
"""The definitions that several schemas share."""

DIGESTS = "digests.txt"
"""SHA-256 of each schema as it is printed, with its texts, which other lists do not contain. A line may change."""


def frozen(schemas: Sequence[Schema]) -> dict[str, str]:
    """Return the contents of each list, by the name of its file."""
    lists: Mapping[str, Callable[[], Iterable[str]]] = {
        "schemas.txt": lambda: chain(chain.from_iterable(map(shape_of, schemas)), _shared()),
        "columns.txt": _columns,
        "commands.txt": lambda: _options(_help()),
        "exit-codes.txt": _exit_codes,
        "metrics.txt": _metrics,
    }
    texts = {name: "".join(f"{line}\n" for line in sorted(set(lines()))) for name, lines in lists.items()}
    return {**texts, DIGESTS: digests(schemas), API.name: stub()}


def removed(now: Mapping[str, str]) -> list[str]:
    """Return what the frozen lists have and the code lacks, each with its list."""
    lists = (name for name in now if name not in (API.name, DIGESTS))
    return [*chain.from_iterable(_missing(name, now[name]) for name in lists), *breaking_changes()]


def _missing(name: str, text: str) -> Iterator[str]:
    path = FROZEN / name
    before = path.read_text("utf-8").splitlines() if path.exists() else []
    lines = set(text.splitlines())
    optional = " argument required"  # an argument that may now be omitted breaks nobody
    gone = (line for line in before if line not in lines)
    return (
        f"{name}: removed or changed: {line}"
        for line in gone
        if not (line.endswith(optional) and line.removesuffix(" required") in lines)
    )


def digests(schemas: Iterable[Schema]) -> str:
    """Return a line per schema: the command that prints it, and the SHA-256 of what it prints."""
    printed = [(f"schema {each['x-name']}/v{each['x-version']}", each, 1) for each in schemas]
    printed.append(("history schema", all_schemas(), 2))
    return "".join(sorted(f"kgroups {words} {_digest(schema, indent)}\n" for words, schema, indent in printed))


def _digest(schema: Schema, indent: int) -> str:
    text = json.dumps(schema, indent=indent, ensure_ascii=False) + "\n"
    return hashlib.sha256(text.encode()).hexdigest()


def shape_of(schema: Schema) -> Iterator[str]:
    """Yield the shape of a schema without its texts: one line per key, with its type, and per value of an enum.

    Definitions that several schemas share have lines of their own.
    """
    name = f"{schema['x-name']}/v{schema['x-version']}"
    yield f"{name} format {schema['x-format']}"
    yield from _shape(name, schema)
    for key, value in schema.get("$defs", {}).items():
        if key not in SHARED:
            yield from _shape(f"{name} #{key}", value)


def _shared() -> Iterator[str]:
    for key, value in SHARED.items():
        yield from _shape(f"#{key}", value)


def _shape(place: str, schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for key, value in schema.get("properties", {}).items():
        mark = "" if key in required else "?"
        yield f"{place} .{key}{mark} {_kind(value)}"
        yield from _shape(f"{place} .{key}", value)
    for value in schema.get("enum", ()):
        yield f"{place} = {json.dumps(value)}"
    for key in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(key), dict):
            yield f"{place} [] {_kind(inner)}"
            yield from _shape(f"{place} []", inner)
    for number, inner in enumerate(schema.get("prefixItems", ())):
        yield f"{place} [{number}] {_kind(inner)}"
    for inner in schema.get("anyOf", ()):
        yield f"{place} | {_kind(inner)}"
        # Forms of an object are told apart by their first keys.
        first = next(iter(inner.get("properties", ())), "")
        yield from _shape(f"{place} |{first}", inner)


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return "enum"
    if "anyOf" in schema:
        return "|".join(map(_kind, schema["anyOf"]))
    kinds = schema.get("type", "any")
    return kinds if isinstance(kinds, str) else "|".join(kinds)


def _columns() -> Iterator[str]:
    for name, output in TABLES.items():
        for column in view_named(output.deep or output.view).columns:
            yield f"{name} {column.key} {column.header}"


@cache
def _help() -> dict[str, Any]:
    return command_object(click.Context(cli, info_name="kgroups", help_option_names=["-h", "--help"]))


def _options(command: Mapping[str, Any]) -> Iterator[str]:
    path = command["name"]
    yield path
    for argument in command["arguments"]:
        yield f"{path} {argument['name']} argument{' required' * argument['required']}"
    for option in command["options"]:
        if "--help" in option["names"]:
            continue  # every command has it; click makes it once, with the names of the first context of a process
        kind = "flag" if option["flag"] else option["type"]
        repeatable = " repeatable" * option["repeatable"]
        for name in chain(option["names"], option["off_names"]):
            yield f"{path} {name} {kind}{repeatable}"
            for choice in option["choices"] or ():
                yield f"{path} {name} = {choice}"
    for inner in command["commands"]:
        yield from _options(inner)


def _exit_codes() -> Iterator[str]:
    """Yield the exit codes of kgroups, and of each command whose exit codes have other meanings."""
    usual = _help()["exit_codes"]
    for command in _commands(_help()):
        if command is _help() or command["exit_codes"] != usual:
            yield from (f"{command['name']} {each['code']}: {each['meaning']}" for each in command["exit_codes"])


def _commands(command: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield command
    for inner in command["commands"]:
        yield from _commands(inner)


def _metrics() -> Iterator[str]:
    from prometheus_client.exposition import generate_latest
    from prometheus_client.parser import text_string_to_metric_families

    from kgroups.exporter import metrics
    from kgroups.render.health.openmetrics import LABELS, NAMES

    families = (*metrics.GROUP_FAMILIES, *metrics.KMINION_FAMILIES, *metrics.GRAFANA_FAMILIES)
    for family in families:
        yield _metric(family.name, family.series.labels)
    for log in (*metrics.LOG_FAMILIES, *metrics.KMINION_LOG_FAMILIES):
        yield _metric(log.name, log.labels)
    polled = metrics.Scrape((GroupSample("g", 0.0, 0),), up=True, scrapes=1, reached_at=0.0)
    encoded = [*metrics.texts(polled, generate_latest), metrics.text_of_age(polled, 0.0, generate_latest)]
    own = {each.name for each in (*families, *metrics.LOG_FAMILIES)}
    for found in text_string_to_metric_families(b"".join(encoded).decode()):
        if found.name not in own:
            labels = found.samples[0].labels if found.samples else {}
            yield _metric(found.samples[0].name if found.samples else f"{found.name}_total", tuple(labels))
    for name in NAMES:
        yield _metric(name, LABELS)


def _metric(name: str, labels: Iterable[str]) -> str:
    return f"{name}{{{','.join(labels)}}}"
