"""The releases of Kafka whose tools the drop-ins follow, and how the tools differ between them.

The modules of the tools declare the newest release. What an earlier one lacks or prints differently is in
:data:`RELEASES`, except for the texts of ``--help``: those are in one folder per release.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from kgroups.errors import ConfigError

VARIABLE: Final = "KGROUPS_TOOLS_VERSION"
"""The environment variable that selects a release, such as ``4.3``."""


class Release(NamedTuple):
    """What differs between the tools of two releases; mappings are by the kind of a tool's groups."""

    version: str
    """The version that the tools print."""
    abouts: Mapping[str, str]
    """The first line of ``--help``."""
    usages: str = ""
    """The folder with the texts of ``--help``; those that it lacks are equal to the newest."""
    lacks: Mapping[str, frozenset[str]] = {}
    """The options that do not exist yet."""
    no_plan: str = "Error: No reset plan for group {} found."
    """The sentence about a group of which ``--from-file`` has no offsets."""
    share_delete: str = "Option [delete] takes the options [group] or [all-groups]."
    share_delete_topic: tuple[tuple[str, ...], str] = (
        ("topic", "all-topics"),
        "Option [delete] does not take the options [topic] or [all-topics].",
    )
    """The options that ``--delete`` rejects, and the message."""
    share_not_found: str = "org.apache.kafka.common.errors.GroupIdNotFoundException"
    """The exception if ``--delete`` does not find a group."""
    share_no_broker: str = "Failed to find brokers to send ListGroups"
    """The cause if no broker answers a list."""
    share_empty_plan_has_header: bool = False
    share_scopes_exclusive: bool = True
    """Whether a reset rejects several scopes."""
    streams_scopes: str = "--all-input-topics, --input-topic"
    """The scopes that the message of a reset without one names."""
    streams_assignor: bool = True
    """Whether ``--describe --state`` has the column ASSIGNOR."""


_NEWEST: Final = Release(
    version="4.4.0",
    abouts={
        kind: f"This tool helps to list, describe, delete and manage the offsets of {kind} groups."
        for kind in ("consumer", "share", "streams")
    },
)

RELEASES: Final[Mapping[str, Release]] = {
    "4.3": Release(
        version="4.3.1",
        abouts={
            "consumer": (
                "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, "
                "or reset consumer group offsets."
            ),
            "share": "This tool helps to list, describe, reset and delete share groups.",
            "streams": "This tool helps to list, or describe streams groups.",
        },
        usages="usage_4_3",
        lacks={
            "share": frozenset({"export", "from-file", "to-current", "to-offset"}),
            "streams": frozenset({"topology"}),
        },
        no_plan="Error: No reset plan for group {} found",
        share_delete="Option [delete] takes the options [group] or [all-groups]",
        share_delete_topic=(("topic",), "Option [delete] does not take the option: [topic]"),
        share_not_found="java.lang.IllegalArgumentException",
        share_no_broker=(
            "java.util.concurrent.ExecutionException: org.apache.kafka.common.KafkaException: "
            "Failed to find brokers to send ListGroups"
        ),
        share_empty_plan_has_header=True,
        share_scopes_exclusive=False,
        streams_scopes="--all-topics, --topic",
        streams_assignor=False,
    ),
    "4.4": _NEWEST,
}


def release() -> Release:
    """Return the release of the environment variable; the newest without it.

    :raises ConfigError: if the variable has another value.
    """
    name = os.environ.get(VARIABLE)
    if not name:
        return _NEWEST
    if name not in RELEASES:
        raise ConfigError(f"{VARIABLE}: {name!r} is not one of {', '.join(RELEASES)}")
    return RELEASES[name]
