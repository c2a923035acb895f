"""Write JSON: an envelope (``json``), or only items, one per line (``jsonl``).

The envelope is ``{"schema": "kgroups/<view>/v1", "cluster_id", "items", "failures", "notices", "missing_acls"}``,
streamed with one item per line. ``jsonl`` does not contain failures: they are on stderr and in the exit code.
The output is ASCII, so that no control character reaches a terminal; a missing value is ``null``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import Any, TextIO

from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.model.cluster import Node
from kgroups.model.listed import Records, ValueList
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.permissions import Acl
from kgroups.model.views.offset_row import WITHOUT_COLUMN

from .table import Table

VERSION = "v1"


def write_json(
    table: Table,
    stream: TextIO,
    cluster_id: str | None = None,
    failures: Iterable[Failure] = (),
    notices: Iterable[str] = (),
    missing: Iterable[Acl] = (),
    more: Mapping[str, object] = MappingProxyType({}),
) -> None:
    schema = json.dumps(f"kgroups/{table.view.name}/{VERSION}")
    stream.write(f'{{"schema": {schema}, "cluster_id": {json.dumps(cluster_id)}, "items": [')
    separator = "\n"
    for lines in _lines(table):
        stream.write(separator)
        stream.write(",\n".join(lines))
        separator = ",\n"
    stream.write('\n], "failures": [' if table.rows else '], "failures": [')
    ordered = sorted(failures, key=Failure.sort_key)
    stream.write(",".join("\n" + json.dumps(failure_object(failure)) for failure in ordered))
    acls = [acl_object(acl) for acl in missing]
    stream.write(f'], "notices": {json.dumps(list(notices))}, "missing_acls": {json.dumps(acls)}')
    stream.write("".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in more.items()) + "}\n")


def write_document(
    view: str,
    items: Iterable[object],
    outcome: Outcome[Any],
    stream: TextIO,
    cluster_id: str | None,
    clusters: Mapping[str, str | None] | None = None,
) -> None:
    """Write an envelope whose items are nested, indented.

    :param clusters: the IDs of several clusters by their names.
    """
    envelope = {
        "schema": f"kgroups/{view}/{VERSION}",
        "cluster_id": cluster_id,
        **({} if clusters is None else {"clusters": dict(clusters)}),
        "items": list(items),
        "failures": [failure_object(failure) for failure in sorted(outcome.failures, key=Failure.sort_key)],
        "notices": list(outcome.notices),
        "missing_acls": [acl_object(acl) for acl in outcome.missing_acls()],
    }
    json.dump(envelope, stream, indent=1)
    stream.write("\n")


def write_jsonl(table: Table, stream: TextIO) -> None:
    for lines in _lines(table):
        stream.write("\n".join(lines) + "\n")


def failure_object(failure: Failure) -> dict[str, object]:
    return {
        "scope": failure.scope.value,
        "name": failure.name,
        "error": failure.error,
        "code": failure.code,
        "message": failure.message,
        "api": failure.api,
        "broker": failure.broker,
        "reason": failure.reason,
        "hint": failure.hint,
        "reference": failure.reference,
        **({"cluster": failure.cluster} if failure.cluster else {}),
    }


def acl_object(acl: Acl) -> dict[str, object]:
    return {"operation": acl.operation, "resource": acl.resource, "name": acl.name}


def _lines(table: Table) -> Iterator[Iterator[str]]:
    """Yield slices of rows as JSON objects. Filling a template with ``%`` is four times as fast as encoding dicts."""
    keys = [json.dumps(column.key).replace("%", "%%") for column in table.columns]
    for columns in table.chunks():
        # Columns without values become constants in the template; the first column determines the number of rows.
        present = [at == 0 or not _absent(values) for at, values in enumerate(columns)]
        parts = (f"{key}: {'%s' if some else 'null'}" for key, some in zip(keys, present, strict=True))
        item = "{" + ", ".join(parts) + "}"
        yield map(item.__mod__, zip(*map(_encoded, compress(columns, present)), strict=True))


def _absent(values: Sequence[Any]) -> bool:
    return values[0] is None and set(map(type, values)) == {type(None)}


def _encoded(values: Sequence[Any]) -> Iterable[object]:
    types = set(map(type, values))
    absent = type(None) in types
    types.discard(type(None))
    if types <= {int}:
        return ["null" if value is None else value for value in values] if absent else values
    if types == {str}:
        encode = encode_basestring_ascii
        return ["null" if value is None else encode(value) for value in values] if absent else map(encode, values)
    return [json.dumps(plain_data(value)) for value in values]


def plain_data(value: object) -> object:
    """Convert a value for the encoder, which would write the model's named tuples as lists, without their keys."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Node():
            return {"id": value.id, "host": value.host, "port": value.port}
        case Assignment(raw=None):
            return [{"topic": entry.topic, "partitions": entry.partitions} for entry in value.topics]
        case Subscription(raw=None):
            return {"topics": value.topics, "regex": value.regex, "generation": value.generation}
        case Assignment(raw=Raw() as raw) | Subscription(raw=Raw() as raw):
            return _raw(raw)
        case Records():
            return [{key: plain_data(field) for key, field in _fields(row)} for row in value]
        case ValueList():
            return list(map(plain_data, value))
        case dict():
            return {key: plain_data(each) for key, each in value.items()}
        case Raw():
            return _raw(value)
    return _of_streams(value)


def _fields(row: Any) -> Iterable[tuple[str, object]]:
    return ((key, field) for key, field in zip(row._fields, row, strict=True) if key not in WITHOUT_COLUMN)


MAX_HEX_BYTES = 65_536
"""Maximum number of undecodable bytes shown per value, to limit the output for groups with many members."""


def _raw(raw: Raw) -> dict[str, object]:
    shown: dict[str, object] = {"raw_bytes": len(raw.data), "hex": raw.data[:MAX_HEX_BYTES].hex(), "reason": raw.reason}
    return shown | {"cut_at": MAX_HEX_BYTES} if len(raw.data) > MAX_HEX_BYTES else shown


def _of_streams(value: object) -> object:
    from kgroups.model.streams import NODE_TYPES, Nodes, Pairs, Tasks  # few results have any

    match value:
        case Pairs():
            return dict(value)
        case Tasks():
            return [{"subtopology": entry.subtopology, "partitions": entry.partitions} for entry in value.subtopologies]
        case Nodes():
            return [node._asdict() | {"type": NODE_TYPES.get(node.type, "unknown")} for node in value]
    if type(value).__module__.startswith("kgroups.model.embedded."):
        return plain_user_data(value)
    raise TypeError(f"no JSON form for {type(value).__name__}")


def plain_user_data(value: Any) -> object:
    """Convert a named tuple of :mod:`kgroups.model.embedded`, recursively."""
    return {"kind": _snake(type(value).__name__), **_plain_fields(value)}


def _plain_fields(value: Any) -> dict[str, object]:
    return {name: _plain(field) for name, field in zip(value._fields, value, strict=True)}


def _plain(value: Any) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case Assignment():
            return [{"topic": entry.topic, "partitions": entry.partitions} for entry in value.topics]
        case tuple() if hasattr(value, "_fields"):
            return str(value) if type(value).__name__ == "TaskId" else _plain_fields(value)
        case tuple():
            return list(map(_plain, value))
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
