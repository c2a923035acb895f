"""The schemas of the files that kgroups reads and writes. Of JSON Lines, the schema is that of one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kgroups.config.profiles import PROFILE_KEYS
from kgroups.config.settings import Transport
from kgroups.model.groups import GroupState, GroupType
from kgroups.model.health.judge import CHECKS
from kgroups.model.outcome import Result, Scope

from .values import Schema, document, flag, listing, mapping, number, one_of, or_null, record, text, whole

_GROUP = text("Group ID.")
_TOPIC = text("Topic.")
_PARTITION = whole("Partition number.", minimum=0, maximum=2**31 - 1)
_OFFSET: Final = {"minimum": 0, "maximum": 2**63 - 1}
_EPOCH = {"minimum": 0, "maximum": 2**31 - 1}
_TYPE = one_of("Group type; absent: Classic, or unknown.", GroupType.ALL)
_ORIGIN: Final[Mapping[str, Schema]] = {
    "cluster_id": or_null(text("ID of the cluster. Null: unknown.")),
    "bootstrap": or_null(text("Bootstrap servers of the run that wrote the file. Null: unknown.")),
    "command": or_null(text("Command of that run. Null: not a command.")),
    "created": or_null(text("Time of that run in ISO 8601, UTC. Null: unknown.")),
    "version": or_null(text("Version of kgroups that wrote the file. Null: unknown.")),
}
_TOPIC_IDS = mapping("Topic -> topic ID, as Kafka's tools print it. Absent topics: unknown.", {"type": "string"})


def files() -> Iterator[Schema]:
    yield document("plan", 1, "Plan of a reset (reset-offsets --export -o json, --from-file)", "json", _plan("plan/v1"))
    yield document("undo", 1, "Undo file of the first format, which is still read", "json", _plan("undo/v1"))
    yield document(
        "undo", 2, "Undo file of offsets, a line", "jsonl", _undo("undo/v2", "offsets", _undo_offset(), _amendment())
    )
    yield document(
        "undo-settings",
        1,
        "Undo file of settings, a line",
        "jsonl",
        _undo("undo-settings/v1", "settings", _undo_setting()),
    )
    yield document("skipped-records", 1, "Records that a reset skips, a line", "jsonl", _skipped())
    yield document("snapshot", 1, "Snapshot (in gzip), a line", "jsonl", _snapshot())
    yield document("rules", 1, "Rules of kgroups check (--rules)", "toml", _rules())
    yield document("config", 1, "Configuration file with profiles, config.toml", "toml", _config())
    yield document("settings-file", 1, "Settings of groups (settings set, unset, and diff)", "toml", _declared())


def _header(schema: str, **more: Schema) -> Schema:
    const = {"const": f"kgroups/{schema}", "description": "Name and version of the format."}
    return record("First line.", {"schema": const, **_ORIGIN, **more})


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
    header = _header(schema, topic_ids=_TOPIC_IDS, **{what: whole(f"Number of {what} in the file.", minimum=0)})
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
    optional = [key for key in item if key != "old_offset"]
    return record(
        "The old offset of one of them, if it was another one, or one more offset.",
        {**number, **item, **before},
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


def _skipped() -> Schema:
    base64 = {"contentEncoding": "base64"}
    header = _header("skipped-records/v1", topic_ids=_TOPIC_IDS, records=whole("Number of records.", minimum=0))
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


def _snapshot() -> Schema:
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
        "anyOf": [_header("snapshot/v1", extent=extent), topic, _group(), read, failure, trailer],
    }


def _group() -> Schema:
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


_WORDS: Final[Schema] = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}}]}


def _limit(unit: Schema) -> Schema:
    both = {"type": "object", "properties": {"warning": unit, "critical": unit}, "additionalProperties": False}
    return {"anyOf": [unit, {"type": "string"}, both | {"minProperties": 1}]}


_COUNT: Final[Schema] = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,18}$"}]}
_TIME: Final[Schema] = {
    "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "^[0-9.]+ *(ms|s|m|h|d|w|)$"}]
}
_VALUES: Final[Mapping[str, Schema]] = {
    "a state, or a list of states": _WORDS,
    "a type": {"type": "string"},
    "a name": {"type": "string", "minLength": 1},
    "a number": {"type": "integer", "minimum": 0},
    "true or false": {"type": "boolean"},
    "a table of globs and limits": {"type": "object", "additionalProperties": _limit(_COUNT)},
}
"""Kind of a value in rules -> its schema, except for limits."""


def _rules() -> Schema:
    def value(key: str, kind: str) -> Schema:
        return _VALUES[kind] if kind in _VALUES else _limit(_TIME if key in _TIMES else _COUNT)

    checks = {check.key: {**value(check.key, check.kind), "description": check.flag.help} for check in CHECKS}
    rule = record(
        "The requirements for some groups.",
        {
            "groups": {**_WORDS, "description": "Groups, by name or glob. A group that is named must exist."},
            "clusters": {**_WORDS, "description": "Only the clusters of these profiles, globs, or @tags."},
            **checks,
        },
        optional=["clusters", *checks],
    )
    states = ", ".join(GroupState.ALL)
    rule["properties"]["state"]["description"] += f" States: {states}."
    return record("Rules.", {"rule": listing("The rules; the first that sets a requirement takes precedence.", rule)})


_TIMES: Final = {
    "max-time-lag",
    "min-headroom",
    "min-offset-headroom",
    "max-commit-age",
    "max-progress-age",
}
"""The rules whose limits are times."""


def _config() -> Schema:
    value = {"type": ["string", "number", "boolean"]}
    tree = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "array", "object"]}}
    keys: dict[str, Schema] = {
        "bootstrap": {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "description": "Bootstrap servers.",
        },
        "timeout": {**value, "description": "Time limit for a command: seconds, or text such as 1m."},
        "broker-timeout": {**value, "description": "Maximum wait for one broker: seconds, or text such as 10s."},
        "transport": one_of("The client.", Transport),
        "max-requests-per-second": number("Maximum rate of requests to all brokers together."),
        "client-id": text("Client ID."),
        "command-config": text("Path of a client configuration file, relative to this file, or absolute."),
        "properties": tree | {"description": "Keys of a client configuration file."},
        "tags": listing("Words by which --profile @TAG selects the profile.", {"type": "string"}),
    }
    assert set(keys) == set(PROFILE_KEYS), "a key of profiles has no schema"
    profile = record("A cluster.", keys, optional=keys)
    return record(
        "Profiles.",
        {
            "default": text("Name of the default profile."),
            "profiles": mapping("Profiles, by name.", profile),
            "sets": mapping(
                "Sets of profiles: names, globs, @tags, and other sets; ! removes.",
                {"type": "array", "items": {"type": "string"}},
            ),
        },
        optional=["default", "profiles", "sets"],
    )


def _declared() -> Schema:
    tree = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "object"]}}
    groups = mapping("Group, or glob -> its settings.", tree)
    return record("Settings.", {"groups": {**groups, "minProperties": 1}})
