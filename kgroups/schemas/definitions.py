"""The definitions that several schemas share, and the schemas of the types of the model."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, Final, get_args, get_origin

from kgroups.errors import Reason
from kgroups.model import streams
from kgroups.model.assignment import Assignment, Subscription, UserData
from kgroups.model.cluster import Node
from kgroups.model.duration import Milliseconds
from kgroups.model.listed import Records, ValueList
from kgroups.model.outcome import Scope

from .values import Schema, listing, mapping, one_of, or_null, record, ref, text, whole

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
DEFINITIONS: Final[Mapping[str, Schema]] = {
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
            "reason": or_null(one_of("Why, for programs. Null only in earlier versions.", Reason)),
            "hint": or_null(text("What to do about it. Null: nothing is known.")),
            "reference": or_null(
                text("Page and anchor of the documentation about the reason. Null only in earlier versions.")
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
"""The definitions that several schemas share, except user_data."""

OF_TYPE: Final[Mapping[Any, Schema]] = {
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
    return dict(OF_TYPE[kind])


def fields_of(row: type[Any]) -> dict[str, Schema]:
    """Return the schemas of the fields of a named tuple, without descriptions."""
    hints = typing.get_type_hints(row, localns=_LATE)
    return {name: schema_of_type(hints[name]) for name in row._fields}
