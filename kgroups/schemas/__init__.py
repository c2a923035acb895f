"""The JSON Schemas of outputs and files, composed from the columns, types, and words of the code.

:mod:`.contents` has the names of all. A schema is composed when it is needed, and only from what it contains.
``tests/contracts/frozen/`` keeps their keys, types, and digests: see docs/stability.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from .contents import DOCUMENTS, TABLES, Document, Table, documents_of_history

PREFIX = "kgroups/"


class SchemaName(NamedTuple):
    """The name of an output or file, such as ``offsets``, and the version of its schema."""

    name: str
    version: int

    def __str__(self) -> str:
        """Return the name as outputs and files contain it: ``kgroups/offsets/v1``."""
        return f"{PREFIX}{self.name}/v{self.version}"


class Head(NamedTuple):
    """One row of the list of schemas; ``format``: see :class:`.contents.Document`."""

    name: SchemaName
    format: str
    title: str


@cache
def _contents(*, with_history: bool = True) -> Mapping[SchemaName, Table | Document]:
    found: dict[SchemaName, Table | Document] = {SchemaName(name, 1): table for name, table in TABLES.items()}
    for name, each in {**DOCUMENTS, **(documents_of_history() if with_history else {})}.items():
        word, _, version = name.partition("/v")
        found[SchemaName(word, int(version))] = each
    return {name: found[name] for name in sorted(found)}


def _contents_for(name: str) -> Mapping[SchemaName, Table | Document]:
    """Return the contents, without history if the name is not one of it: its tables need not be loaded then."""
    return _contents(with_history=name.startswith("history-"))


def heads() -> Iterator[Head]:
    """Yield every schema, sorted, without composing it."""
    for name, each in _contents().items():
        yield Head(name, each.format if isinstance(each, Document) else "json", each.title)


def schema_names() -> list[SchemaName]:
    """Return all schemas, sorted."""
    return list(_contents())


def find_schema(text: str) -> SchemaName | None:
    """Return the schema with a name such as ``offsets``, ``offsets/v1``, or ``kgroups/offsets/v1``.

    Without a version, it is the latest one. ``None``: there is no such schema.
    """
    name, _, version = text.removeprefix(PREFIX).partition("/")
    found = [each for each in _contents_for(name) if each.name == name and version in ("", f"v{each.version}")]
    return found[-1] if found else None


def schema_of(name: SchemaName) -> dict[str, Any]:
    """Return a JSON Schema (draft 2020-12).

    :raises KeyError: if there is no such schema.
    """
    from .compose import document

    found = _contents_for(name.name)[name]
    if isinstance(found, Table):
        from .views import table

        return document(*name, found.title, "json", table(name.name, found))
    module, _, function = found.source.partition(":")
    compose = getattr(import_module(f"kgroups.schemas.{module}"), function)
    return document(*name, found.title, found.format, compose(*found.arguments))


def whole_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an output without ``--columns``: its items have every key that is not conditional."""
    item = schema["$defs"]["item"]
    keys = [key for key, value in item.get("properties", {}).items() if "x-when" not in value]
    return {**schema, "$defs": {**schema["$defs"], "item": {"required": keys, **item}}}


def item_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one item of an envelope, which is one line of ``-o jsonl``.

    :raises KeyError: if the schema is not that of an envelope.
    """
    head = {key: schema[key] for key in ("$schema", "title", "x-name", "x-version")}
    definitions = {key: value for key, value in schema["$defs"].items() if key != "item"}
    identifier = f"urn:kgroups:{schema['x-name']}-item:v{schema['x-version']}"
    return {**head, "$id": identifier, "x-format": "jsonl", **schema["$defs"]["item"], "$defs": definitions}
