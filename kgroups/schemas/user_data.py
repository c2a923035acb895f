"""The definition of what clients store in the metadata of groups, in addition to topics."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, get_args, get_origin

from kgroups.model.assignment import Assignment
from kgroups.model.embedded import classic_streams, connect, schema_registry, sticky

from .definitions import OF_TYPE
from .values import Schema, or_null, record, ref

_TEXTS: Final[Mapping[str, str]] = {
    "sticky_data": "User data of a sticky assignor.",
    "streams_subscription": "User data of a Kafka Streams member under the classic protocol.",
    "streams_assignment": "User data in the assignment of a Kafka Streams member under the classic protocol.",
    "worker_state": "State of a Connect worker.",
    "worker_assignment": "Assignment of a Connect worker.",
    "registry_identity": "Identity of an instance of Schema Registry.",
    "registry_assignment": "Assignment of an instance of Schema Registry.",
    "connector_work": "What a worker runs of one connector.",
    "task_offsets": "State of a task on the disk of a process.",
    "host_partitions": "Partitions of one instance.",
    "standby_task": "A standby task.",
    "previous": "Partitions before the last rebalance. Null: not sent.",
    "generation": "Generation of these partitions. Null: not sent, or none.",
    "version": "Version of the format. Null: it has none.",
    "latest_version": "Latest version of the format that the member supports. Null: not sent.",
    "process_id": "ID of the application instance. Null: not sent.",
    "previous_tasks": "Active tasks before.",
    "standby_tasks": "Standby tasks before.",
    "offset_sums": "Tasks with their state on disk.",
    "endpoint": "Endpoint for interactive queries. Null: none.",
    "unique_field": "A number that makes each subscription unique. Null: not sent.",
    "error": "Error number of the protocol. Null: not sent.",
    "client_tags": "Names and values of client tags.",
    "common_version": "Version that all members support. Null: not sent.",
    "active": "Active tasks.",
    "standby": "Standby tasks.",
    "by_host": "Partitions of each instance.",
    "standby_by_host": "Standby partitions of each instance.",
    "next_rebalance_ms": "Time of the next rebalance in ms since 1970. Null: none.",
    "task": "The task, as SUBTOPOLOGY_PARTITION.",
    "offset_sum": "Sum of the changelog offsets; -2 is a running active task.",
    "host": "Host.",
    "port": "Port.",
    "partitions": "The partitions.",
    "url": "URL of the worker.",
    "config_offset": "Offset up to which the worker has read configurations.",
    "running": "What the worker runs. Null: not sent.",
    "leader": "Member ID of the leader. Null: none.",
    "leader_url": "URL of the leader.",
    "work": "Connectors and tasks.",
    "revoked": "Connectors and tasks to stop.",
    "delay_ms": "Time in ms to wait for the return of a lost worker. Null: not sent.",
    "connector": "Name of the connector.",
    "itself": "Whether the worker runs the connector itself.",
    "tasks": "Numbers of its tasks.",
    "scheme": "Scheme of the URL.",
    "eligible": "Whether the instance may become the leader. Null: not sent.",
    "identity": "The leader. Null: none.",
}
"""Key in the metadata of clients -> its description; also those of the forms themselves."""


def user_data() -> Schema:
    """Return the definition."""
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
        **{name: {**_embedded_value(hints[name]), "description": _TEXTS[name]} for name in kind._fields},
    }
    return record(_TEXTS[snake], properties)


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
    return dict(OF_TYPE[kind]) if kind in OF_TYPE else _embedded(kind)
