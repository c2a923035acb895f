"""``--transport librdkafka``: the same rows as the wire client, except for what librdkafka does not report.

:data:`UNREPORTED` is the list in :mod:`kgroups.admin.rdkafka.client`, as columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.integration.asking import Answer, Row
from tests.integration.known_cluster import KnownCluster
from tests.integration.transient_groups import COMPLETING, TransientGroups
from tests.integration.versions import oldest_and_newest

pytestmark = oldest_and_newest

LIBRDKAFKA = ("--transport", "librdkafka")

OPAQUE = "connect-like"
"""Of another protocol type: neither listed nor described."""

UNREPORTED = {
    "list": (),
    "offsets": (),
    "members": (
        "current_epoch",
        "target_epoch",
        "upgraded",
        "rack",
        "subscription",
        "reconciling",
        "generation",
        "previous_assignment",
        "user_data",
        "assigned_user_data",
        "metadata_version",
        "metadata_bytes",
        "assignment_bytes",
    ),
    "state": ("group_epoch", "target_assignment_epoch"),
}
"""By view: what is always absent, or empty."""

OWNED = "owned_partitions"
"""Also untold, of classic groups."""

EMPTY_SUBSCRIPTION = {"topics": [], "regex": None, "generation": None}


def both(known_cluster: KnownCluster, *words: str) -> tuple[Answer, Answer]:
    return known_cluster.ask(*words, "-o", "json"), known_cluster.ask(*words, "-o", "json", *LIBRDKAFKA)


def known(rows: Iterable[Row], view: str, known_cluster: KnownCluster) -> list[Row]:
    """Return these rows without the values that librdkafka does not report."""
    found = []
    for row in rows:
        classic = view == "members" and getattr(known_cluster.groups.get(row["group"]), "type", "Classic") == "Classic"
        hidden = (*UNREPORTED[view], *([OWNED] if classic else []))
        if row["group"] != OPAQUE:
            found.append({key: value for key, value in row.items() if key not in hidden})
    return found


@pytest.mark.parametrize("words", [(), ("--state", "stable"), ("--state", "Empty", "--protocol-type", "consumer")])
def test_list_matches_the_wire(known_cluster: KnownCluster, words: tuple[str, ...]) -> None:
    wire, other = both(known_cluster, "list", *words)
    assert (wire.code, other.code) == (0, 0)
    assert known(wire.items, "list", known_cluster) == other.items
    assert "librdkafka lists only consumer groups" in other.err


def test_list_by_type_matches_the_wire(known_cluster: KnownCluster) -> None:
    wire, other = both(known_cluster, "list", "--type", "consumer,classic")
    assert known(wire.items, "list", known_cluster) == other.items
    assert wire.code == other.code == (0 if known_cluster.since("3.8") else 1)


@pytest.mark.parametrize("view", ["offsets", "members", "state"])
def test_describe_all_groups_matches_the_wire(known_cluster: KnownCluster, view: str) -> None:
    wire, other = both(known_cluster, "describe", "--all-groups", f"--{view}")
    assert known(wire.items, view, known_cluster) == known(other.items, view, known_cluster)
    assert OPAQUE not in {row["group"] for row in other.items}
    assert other.code == wire.code == (1 if view == "offsets" else 0)
    if view == "offsets":
        assert "topic 'billing'" in other.err
    absent = {key: EMPTY_SUBSCRIPTION if key == "subscription" else None for key in UNREPORTED[view]}
    for row in other.items:
        assert absent.items() <= row.items()


def test_describe_named_groups_matches_the_wire(known_cluster: KnownCluster) -> None:
    wire, other = both(known_cluster, "describe", "orders-range", "ahead", "nobody-knows-it")
    assert other.items == wire.items
    assert (wire.code, other.code) == (1, 1)
    assert [(failure["name"], failure["error"]) for failure in other.failures] == [
        (failure["name"], failure["error"]) for failure in wire.failures
    ]


def test_topic_and_isolation_match_the_wire(known_cluster: KnownCluster) -> None:
    wire, other = both(known_cluster, "describe", "--topic", "clicks,ledger", "--isolation", "read_committed")
    assert (other.code, other.items) == (0, wire.items)
    assert {row["lag"] for row in other.items if row["topic"] == "ledger"} == {0}


def test_other_protocol_types_are_refused(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", OPAQUE, "ahead", "-o", "json", *LIBRDKAFKA)
    assert (answer.code, [row["group"] for row in answer.items]) == (1, ["ahead"])
    assert [failure["name"] for failure in answer.failures] == [OPAQUE]
    answer = known_cluster.ask("list", "--protocol-type", "connect", *LIBRDKAFKA)
    assert (answer.code, answer.out) == (1, "")
    assert "librdkafka does not list groups of protocol type 'connect'" in answer.err


def test_rebalancing_group_matches_the_wire(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    wire, other = both(known_cluster, "describe", COMPLETING, "--state")
    assert (other.code, other.items) == (0, wire.items)
