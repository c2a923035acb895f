"""The schemas of TOML files: rules of ``kgroups check``, profiles, and settings of groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kgroups.config.profiles import PROFILE_KEYS
from kgroups.config.settings import Transport
from kgroups.model.groups import GroupState
from kgroups.model.health.judge import CHECKS

from .values import Schema, listing, mapping, number, one_of, record, text

_WORDS: Final[Schema] = {"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}}]}


_TIMES: Final = {
    "max-time-lag",
    "min-headroom",
    "min-offset-headroom",
    "max-commit-age",
    "max-progress-age",
}
"""The rules whose limits are times."""


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


def rules() -> Schema:
    """Return the schema of a file of rules."""

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


def config() -> Schema:
    """Return the schema of ``config.toml``."""
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


def settings_of_groups() -> Schema:
    """Return the schema of a file of settings."""
    tree = {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "object"]}}
    groups = mapping("Group, or glob -> its settings.", tree)
    return record("Settings.", {"groups": {**groups, "minProperties": 1}})
