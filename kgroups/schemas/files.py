"""The schemas of plans, undo files, skipped records, and snapshots. Of JSON Lines, the schema is that of one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kgroups.model.groups import GroupType
from kgroups.model.outcome import Result, Scope

from .values import Schema, flag, listing, mapping, one_of, or_null, record, text, whole

_GROUP = text("Group ID.")
_TOPIC = text("Topic.")
_PARTITION = whole("Partition number.", minimum=0, maximum=2**31 - 1)
_OFFSET: Final = {"minimum": 0, "maximum": 2**63 - 1}
_EPOCH = {"minimum": 0, "maximum": 2**31 - 1}
_TYPE = one_of("Group type; absent: not a share group.", GroupType.ALL)
_ORIGIN: Final[Mapping[str, Schema]] = {
    "cluster_id": or_null(text("ID of the cluster. Null: unknown.")),
    "bootstrap": or_null(text("Bootstrap servers of the run that wrote the file. Null: unknown.")),
    "command": or_null(text("Command of that run. Null: not a command.")),
    "created": or_null(text("Time of that run in ISO 8601, UTC. Null: unknown.")),
    "version": or_null(text("Version of kgroups that wrote the file. Null: unknown.")),
}
_TOPIC_IDS = mapping("Topic -> topic ID, as Kafka's tools print it. Absent topics: unknown.", {"type": "string"})


def plan() -> Schema:
    """Return the schema of a plan."""
    return _plan("plan/v1")


def first_undo() -> Schema:
    """Return the schema of the first undo files, which are plans."""
    return _plan("undo/v1")


def undo() -> Schema:
    """Return the schema of undo files of offsets."""
    return _undo("undo/v2", "offsets", _undo_offset(), _amendment())


def undo_settings() -> Schema:
    """Return the schema of undo files of settings."""
    return _undo("undo-settings/v1", "settings", _undo_setting())


def skipped_records() -> Schema:
    """Return the schema of the records that a reset skips."""
    base64 = {"contentEncoding": "base64"}
    header = _first_line("skipped-records/v1", topic_ids=_TOPIC_IDS, records=whole("Number of records.", minimum=0))
    head = record(
        "A header.",
        {"name": text("Name."), "value": or_null(text("Value in Base64. Null: none.", **base64))},
    )
    item = record(
        "A record.",
        {
            "group": _GROUP,
            "topic": _TOPIC,
            "partition": _PARTITION,
            "offset": whole("Offset.", **_OFFSET),
            "timestamp": or_null(whole("Timestamp in ms since 1970. Null: none.")),
            "producer_id": or_null(whole("Producer ID. Null: none.")),
            "key": or_null(text("Key in Base64. Null: none.", **base64)),
            "value": or_null(text("Value in Base64. Null: none.", **base64)),
            "headers": listing("Headers.", head),
        },
    )
    return {"description": "A line: the header, or a record.", "anyOf": [header, item]}


def snapshot() -> Schema:
    """Return the schema of snapshots."""
    names = {"type": "string"}
    extent = record(
        "Which groups and topics the snapshot would contain if they existed.",
        {
            "everything": flag("All groups."),
            "names": listing("Groups, by name.", names),
            "patterns": listing("Globs, and regex: with a regular expression.", names),
            "topics": listing("Topics; empty: all.", names),
            "filtered": flag("Whether groups were filtered by state or type."),
        },
    )
    topic = record(
        "A topic.",
        {
            "topic": _TOPIC,
            "id": or_null(text("Topic ID. Null: unknown.")),
            "logs": or_null(
                listing(
                    "Partition, log start offset, and log end offset. Null: the topic did not exist.",
                    {"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 3, "maxItems": 3},
                )
            ),
        },
    )
    failed = record(
        "What could not be read.",
        {
            "scope": one_of("What the failure is about.", Scope),
            "name": text("The group, topic, topic-partition, or broker."),
            "message": text("The failure in words."),
            "error": text("Kafka's name of the error; absent: no broker reported it."),
            "code": whole("Kafka's number of the error."),
            "api": text("The request of Kafka's protocol."),
            "broker": whole("ID of the broker."),
            "hint": text("What to do about it."),
            "cluster": text("Name of the cluster."),
        },
        optional=["error", "code", "api", "broker", "hint", "cluster"],
    )
    read = record(
        "The first unread record of a committed offset.",
        {
            "record": {
                "type": "array",
                "description": "Topic, partition, and committed offset.",
                "prefixItems": [{"type": "string"}, {"type": "integer"}, {"type": "integer"}],
                "items": False,
            },
            "at": or_null(whole("Offset of the record. Null: there is none.", **_OFFSET)),
            "timestamp": or_null(whole("Timestamp in ms since 1970. Null: none.")),
            "crc": or_null(whole("Checksum (CRC-32C) of the record. Null: there is none.")),
        },
    )
    counts = {
        f"{key}s": whole(f"Lines of this kind: {key}.", minimum=0) for key in ("topic", "group", "record", "failure")
    }
    trailer = record(
        "Last line.",
        {
            "end": record("Number of lines.", counts),
            "sha256": text("SHA-256 of all lines before this one, with their line ends.", pattern="^[0-9a-f]{64}$"),
        },
    )
    failure = record("A failure.", {"failure": failed})
    return {
        "description": "A line: the header, a topic, a group, a record, a failure, or the last line.",
        "anyOf": [_first_line("snapshot/v1", extent=extent), topic, _snapshot_group(), read, failure, trailer],
    }


def _first_line(schema: str, optional: Sequence[str] = (), **more: Schema) -> Schema:
    const = {"const": f"kgroups/{schema}", "description": "Name and version of the format."}
    return record("First line.", {"schema": const, **_ORIGIN, **more}, optional=optional)


def _commit(prefix: str, doc: str) -> dict[str, Schema]:
    return {
        f"{prefix}offset": or_null(whole(f"{doc} Null: no committed offset.", **_OFFSET)),
        f"{prefix}leader_epoch": whole("Leader epoch of that commit; absent: unknown.", **_EPOCH),
        f"{prefix}metadata": text("Metadata of that commit; absent: empty."),
    }


def _plan(schema: str) -> Schema:
    properties = {
        "group": _GROUP,
        "topic": _TOPIC,
        "partition": _PARTITION,
        **_commit("", "Offset to commit."),
        "old_offset": or_null(whole("Committed offset when the plan was made. Null: none.", **_OFFSET)),
        "type": _TYPE,
    }
    item = record("One offset.", properties, optional=["leader_epoch", "metadata", "old_offset", "type"])
    head = {"const": f"kgroups/{schema}", "description": "Name and version of the format."}
    origin = {**_ORIGIN, "topic_ids": _TOPIC_IDS}
    return record("A plan.", {"schema": head, **origin, "items": listing("The offsets.", item)}, optional=origin)


def _undo(schema: str, what: str, item: Schema, *more: Schema) -> Schema:
    undoes = text("Command that the run undoes; absent: it does not restore from an undo file.")
    number = {what: whole(f"Number of {what} in the file.", minimum=0)}
    header = _first_line(schema, optional=["undoes"], undoes=undoes, topic_ids=_TOPIC_IDS, **number)
    result = record(
        "The result of some of them; later lines take precedence.",
        {
            "result": one_of("The result; unknown: sent, and no response arrived.", Result),
            what: listing("Their numbers, from 1.", {"type": "integer", "minimum": 1}),
            "error": text("Why, in words."),
        },
        optional=["error"],
    )
    return {"description": "A line: the header, an entry, or a result.", "anyOf": [header, item, result, *more]}


def _undo_offset() -> Schema:
    before = _commit("old_", "Offset before the change.")
    after = _commit("new_", "Offset that the change writes.")
    optional = [key for key in (*before, *after) if not key.endswith("_offset")]
    properties = {"group": _GROUP, "topic": _TOPIC, "partition": _PARTITION, **before, **after, "type": _TYPE}
    properties["beyond_end"] = flag("Whether the old offset was already beyond the log end offset; absent: no.")
    return record("One offset.", properties, optional=[*optional, "type", "beyond_end"])


def _amendment() -> Schema:
    item = _undo_offset()["properties"]
    before = _commit("old_", "Offset that was overwritten.")
    number = {
        "amended": whole("Number of the offset, from 1; one more than there are: it was not there before.", minimum=1)
    }
    topic_id = {"topic_id": text("ID of the topic of one more offset; absent if unknown.")}
    optional = [*(key for key in item if key != "old_offset"), "topic_id"]
    return record(
        "The old offset of one of them, if it was another one, or one more offset.",
        {**number, **item, **before, **topic_id},
        optional=optional,
    )


def _undo_setting() -> Schema:
    return record(
        "One setting.",
        {
            "group": _GROUP,
            "key": text("Name of the setting."),
            "old_value": or_null(text("Value that was set for the group. Null: none.")),
            "new_value": or_null(text("Value that the change sets. Null: none.")),
        },
    )


def _snapshot_group() -> Schema:
    number_ = {"type": "integer"}
    raw = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}], "items": False}
    commit = {
        "type": "array",
        "prefixItems": [number_, number_, {"type": ["integer", "null"]}, {"type": "string"}],
        "items": False,
        "minItems": 2,
    }
    assignment = {
        "anyOf": [{"type": "object", "additionalProperties": {"type": "array", "items": number_}}, raw],
        "description": "Topic -> partitions; or bytes in hexadecimal digits, and why they cannot be decoded.",
    }
    member = record(
        "A member.",
        {
            "id": text("Member ID."),
            "client_id": text("Client ID."),
            "host": text("Host."),
            "instance_id": text("group.instance.id; absent: none."),
            "rack": text("Rack; absent: none."),
            "epoch": whole("Epoch; absent: none."),
            "assignment": assignment,
            "topics": listing("Subscribed topics.", {"type": "string"}),
            "regex": text("Subscribed regular expression; absent: none."),
            "subscription": raw | {"description": "Bytes in hexadecimal digits, and why they cannot be decoded."},
        },
        optional=["instance_id", "rack", "epoch", "regex", "subscription"],
    )
    return record(
        "A group.",
        {
            "group": _GROUP,
            "type": or_null(text("Group type. Null: unknown.")),
            "state": text("State."),
            "protocol_type": text("Protocol type."),
            "protocol": text("Name of the assignor."),
            "coordinator": {
                "type": "array",
                "description": "ID, host, and port of the coordinator.",
                "prefixItems": [number_, {"type": "string"}, number_],
                "items": False,
            },
            "epoch": or_null(whole("Epoch of the group. Null: it has none.")),
            "members": or_null(listing("The members. Null: unknown.", member)),
            "offsets": mapping(
                "Topic -> partition, offset, leader epoch, and metadata.", {"type": "array", "items": commit}
            ),
            "unset": mapping("Topic -> partitions without a commit.", {"type": "array", "items": number_}),
            "lags": listing(
                "Topic, partition, and lag, where brokers report it.",
                {"type": "array", "prefixItems": [{"type": "string"}, number_, number_], "items": False},
            ),
            "configs": mapping("Settings of the group.", {"type": ["string", "null"]}),
        },
        optional=["unset", "lags", "configs"],
    )
