"""JSON Schemas of values, from the types of the model."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args, get_origin

from kgroups.errors import Reason
from kgroups.model import streams
from kgroups.model.assignment import Assignment, Subscription, UserData
from kgroups.model.cluster import Node
from kgroups.model.duration import Milliseconds
from kgroups.model.embedded import classic_streams, connect, schema_registry, sticky
from kgroups.model.listed import Records, ValueList
from kgroups.model.outcome import Scope

from .texts import EMBEDDED

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def text(doc: str, **more: Any) -> Schema:
    return {"type": "string", "description": doc, **more}


def whole(doc: str, **more: Any) -> Schema:
    return {"type": "integer", "description": doc, **more}


def number(doc: str, **more: Any) -> Schema:
    return {"type": "number", "description": doc, **more}


def flag(doc: str) -> Schema:
    return {"type": "boolean", "description": doc}


def listing(doc: str, items: Schema) -> Schema:
    return {"type": "array", "description": doc, "items": items}


def mapping(doc: str, values: Schema) -> Schema:
    return {"type": "object", "description": doc, "additionalProperties": values}


def one_of(doc: str, values: Iterable[object]) -> Schema:
    return {"enum": [str(value) if isinstance(value, str) else value for value in values], "description": doc}


def ref(name: str, doc: str | None = None) -> Schema:
    return {"$ref": f"#/$defs/{name}", **({"description": doc} if doc else {})}


def or_null(schema: Schema) -> Schema:
    """Return the schema of a value that may also be null."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    own = {key: value for key, value in schema.items() if key == "description"}
    rest = {key: value for key, value in schema.items() if key != "description"}
    if list(rest) == ["anyOf"]:
        return {"anyOf": [*rest["anyOf"], {"type": "null"}], **own}
    return {"anyOf": [rest, {"type": "null"}], **own}


def record(doc: str, properties: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """Return the schema of an object with exactly these keys."""
    missing = set(optional)
    assert missing <= properties.keys(), missing - properties.keys()
    return {
        "type": "object",
        "description": doc,
        "properties": dict(properties),
        "required": [key for key in properties if key not in missing],
        "additionalProperties": False,
    }


_RAW = record(
    "Bytes of a client that cannot be decoded.",
    {
        "raw_bytes": whole("Number of bytes."),
        "hex": text("The bytes, or the first of them, in hexadecimal digits."),
        "reason": text("Why they cannot be decoded."),
        "cut_at": whole("Number of bytes in hex, if there are more."),
    },
    optional=["cut_at"],
)
_TOPIC_PARTITIONS = record(
    "Partitions of one topic.",
    {"topic": text("The topic."), "partitions": listing("Partition numbers, ascending.", {"type": "integer"})},
)
_PARTITIONS = listing("Topics with their partitions.", ref("topic_partitions"))
COMMON: Final[Mapping[str, Schema]] = {
    "failure": record(
        "One group, topic, partition, broker, or cluster without a complete result, and why.",
        {
            "scope": one_of("What the failure is about.", Scope),
            "name": text("The group, topic, topic-partition, or broker; empty for the cluster."),
            "error": or_null(text("Kafka's name of the error. Null: no broker reported it.")),
            "code": or_null(whole("Kafka's number of the error. Null: no broker reported it.")),
            "message": text("The failure in words, which may change in any version."),
            "api": or_null(text("The request of Kafka's protocol. Null: none, or several.")),
            "broker": or_null(whole("ID of the broker. Null: none, or unknown.")),
            "reason": or_null(one_of("Why, for programs. Null: only a broker's error is known.", Reason)),
            "hint": or_null(text("What to do about it. Null: nothing is known.")),
            "reference": or_null(
                text("Page and anchor of the documentation about the reason. Null: there is no reason.")
            ),
            "cluster": text("Name of the cluster; only if several are queried."),
        },
        optional=["cluster"],
    ),
    "acl": record(
        "A permission without which the result may be partial.",
        {
            "operation": text("The operation, such as DESCRIBE."),
            "resource": text("The resource type: GROUP, TOPIC, or CLUSTER."),
            "name": or_null(text("Name of the resource. Null: the broker does not report it.")),
        },
    ),
    "node": record("A broker.", {"id": whole("ID."), "host": text("Host that it advertises."), "port": whole("Port.")}),
    "raw": _RAW,
    "topic_partitions": _TOPIC_PARTITIONS,
    "assignment": {"anyOf": [_PARTITIONS, ref("raw")], "description": "Assigned partitions, or bytes."},
    "subscription": {
        "anyOf": [
            record(
                "A subscription.",
                {
                    "topics": listing("The topics, by name.", {"type": "string"}),
                    "regex": or_null(text("Regular expression of topics that the broker evaluates. Null: none.")),
                    "generation": or_null(whole("Generation of the partitions that the member owned. Null: unknown.")),
                },
            ),
            ref("raw"),
        ],
        "description": "What a member subscribes to, or bytes.",
    },
    "tasks": listing(
        "Tasks of a streams group.",
        record(
            "Tasks of one subtopology.",
            {
                "subtopology": text("Subtopology."),
                "partitions": listing("Partition numbers, ascending.", {"type": "integer"}),
            },
        ),
    ),
    "pairs": mapping("Names and values.", {"type": ["string", "integer"]}),
    "processing_nodes": listing(
        "Nodes of a topology.",
        record(
            "A node.",
            {
                "name": text("Name, as the application gives it."),
                "type": one_of("Type.", [*streams.NODE_TYPES.values(), "unknown"]),
                "source_topics": listing("Topics that it reads.", {"type": "string"}),
                "sink_topic": or_null(text("Topic that it writes. Null: none.")),
                "stores": listing("State stores.", {"type": "string"}),
                "successors": listing("Nodes that follow.", {"type": "string"}),
            },
        ),
    ),
}
"""The definitions that several schemas share."""

_OF_TYPE: Final[Mapping[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    Milliseconds: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Reason: {"type": "string"},
    Node: ref("node"),
    Assignment: ref("assignment"),
    Subscription: ref("subscription"),
    streams.Tasks: ref("tasks"),
    streams.Pairs: ref("pairs"),
    streams.Nodes: ref("processing_nodes"),
    ValueList: {"type": "array", "items": {"type": "string"}},
    Records: {"type": "array", "items": {"type": "object"}},
    UserData: ref("user_data"),
}
_LATE = {"ValueList": ValueList, "Pairs": streams.Pairs, "Tasks": streams.Tasks, "Nodes": streams.Nodes}
"""Types that the model imports for type checkers only."""


def schema_of_type(kind: Any) -> Schema:
    """Return the schema of the values of a field of a row."""
    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        (inner,) = (each for each in get_args(kind) if each is not type(None))
        return or_null(schema_of_type(inner))
    return dict(_OF_TYPE[kind])


def fields_of(row: type[Any]) -> dict[str, Schema]:
    """Return the schemas of the fields of a named tuple, without descriptions."""
    hints = typing.get_type_hints(row, localns=_LATE)
    return {name: schema_of_type(hints[name]) for name in row._fields}


def _user_data() -> Schema:
    kinds = (
        sticky.StickyData,
        classic_streams.StreamsSubscription,
        classic_streams.StreamsAssignment,
        connect.WorkerState,
        connect.WorkerAssignment,
        schema_registry.RegistryIdentity,
        schema_registry.RegistryAssignment,
    )
    return {
        "anyOf": [*(_embedded(kind, tagged=True) for kind in kinds), ref("raw")],
        "description": "What a client stores in the metadata of the group in addition to topics; see its kind.",
    }


def _embedded(kind: Any, *, tagged: bool = False) -> Schema:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
    hints = typing.get_type_hints(kind)
    properties = {
        **({"kind": {"const": snake, "description": "The form of the data."}} if tagged else {}),
        **{name: {**_embedded_value(hints[name]), "description": EMBEDDED[name]} for name in kind._fields},
    }
    return record(EMBEDDED[snake], properties)


def _embedded_value(kind: Any) -> Schema:
    if isinstance(kind, types.UnionType):
        (inner,) = (each for each in get_args(kind) if each is not type(None))
        return or_null(_embedded_value(inner))
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        item = _embedded_value(inner[0]) if Ellipsis in inner else {"type": "string"}
        return {"type": "array", "items": item}
    if kind is classic_streams.TaskId:
        return {"type": "string"}
    if kind is Assignment:
        return {"type": "array", "items": ref("topic_partitions")}
    return dict(_OF_TYPE[kind]) if kind in _OF_TYPE else _embedded(kind)


DEFINITIONS: Final[Mapping[str, Schema]] = {**COMMON, "user_data": _user_data()}


def with_definitions(schema: Schema) -> Schema:
    """Return the schema with the shared definitions that it refers to, also indirectly."""
    own: dict[str, Schema] = dict(schema.get("$defs", {}))
    todo = [schema]
    while todo:
        for name in re.findall(r"#/\$defs/(\w+)", str(todo.pop())):
            if name not in own:
                own[name] = DEFINITIONS[name]
                todo.append(DEFINITIONS[name])
    return {**schema, "$defs": {name: own[name] for name in sorted(own)}} if own else schema


def document(name: str, version: int, title: str, fmt: str, schema: Schema) -> Schema:
    """Return the complete schema of a file in the package.

    :param fmt: ``json``, ``jsonl`` (the schema is that of one line), or ``toml``.
    """
    head = {"$schema": DIALECT, "$id": f"urn:kgroups:{name}:v{version}", "title": title}
    return with_definitions({**head, "x-name": name, "x-version": version, "x-format": fmt, **schema})


def envelope(name: str, items: Schema, version: int = 1, more: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of the envelope of ``-o json``. The definition ``item`` is that of a line of ``jsonl``."""
    optional = {
        "clusters": mapping(
            "IDs of the clusters by name; only if several are queried. Null: unknown.", {"type": ["string", "null"]}
        ),
        **(more or {}),
    }
    schema = record(
        "The result of a command.",
        {
            "schema": {"const": f"kgroups/{name}/v{version}", "description": "Name and version of this schema."},
            "cluster_id": or_null(text("ID of the cluster. Null: unknown, or several clusters.")),
            "items": listing("The rows, sorted.", ref("item")),
            "failures": listing("What is missing from the rows, and why. Empty: nothing.", ref("failure")),
            "notices": listing("Remarks in words, which may change.", {"type": "string"}),
            "missing_acls": listing("Permissions without which rows may be missing.", ref("acl")),
            **optional,
        },
        optional=optional,
    )
    return {**schema, "$defs": {"item": items}}
