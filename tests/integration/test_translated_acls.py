"""``kgroups translate`` and ``parity`` between two clusters with ACLs: a missing one is named, with its cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox.security import Acl, Secure
from kgroups.sandbox.security import up as secure_up
from kgroups.sandbox.topics import make_topics
from tests.integration.asking import Answer, run_here
from tests.integration.conftest import calm
from tests.integration.copied_topic import COMMITTED, EARLIER, GROUP, TOPIC, make_copied_topic
from tests.integration.versions import MAIN

OLD = "2.8.2"
"""With the authorizer of ZooKeeper."""
OTHER = "refunds"
"""A topic without records, on which the group has an offset, too."""

Offsets = dict[tuple[str, int], int]
SOURCE: Offsets = {**{(TOPIC, at): offset for at, offset in enumerate(COMMITTED)}, (OTHER, 0): 0}
TRANSLATED: Offsets = {(TOPIC, at): EARLIER + offset for at, offset in enumerate(COMMITTED)} | {(OTHER, 0): 0}
BEFORE: Offsets = {(TOPIC, 0): TRANSLATED[TOPIC, 0]}
"""What the group has on the target before each test: right, so that it is the same, if that can be seen."""

Needed = dict[tuple[str, str], str]
"""Resource type and name -> operation."""
ON_SOURCE: Needed = {
    ("cluster", "kafka-cluster"): "describe",
    ("group", GROUP): "describe",
    ("topic", TOPIC): "read",
    ("topic", OTHER): "read",
}
ON_TARGET: Needed = {("group", GROUP): "read", ("topic", TOPIC): "read", ("topic", OTHER): "read"}


class Case(NamedTuple):
    """An ACL that the user lacks.

    ``less``: the one that the user has instead. ``found``: how many offsets are translated. ``same``: how many are the
    same on both sides, as far as can be seen. ``writes``: whether it writes if that is accepted.
    """

    side: str
    resource: tuple[str, str]
    line: str
    less: str | None = None
    found: int = 0
    same: int = 0
    writes: bool = False


CASES = {
    "read source": Case(
        "source", ("topic", TOPIC), f"topic '{TOPIC}': on the source: not authorized: needs READ on TOPIC {TOPIC} [",
        "describe", found=1, writes=True,
    ),
    "describe source": Case(
        "source", ("topic", TOPIC),
        f"cluster: on the source: committed offsets on topics without permission DESCRIBE are hidden: {TOPIC}",
        found=1, writes=True,
    ),
    "describe another topic of the group": Case(
        "source", ("topic", OTHER),
        f"cluster: on the source: committed offsets on topics without permission DESCRIBE are hidden: {OTHER}",
        found=2, same=1, writes=True,
    ),
    "describe source cluster": Case(
        "source", ("cluster", "kafka-cluster"),
        "cluster: on the source: committed offsets on topics without permission DESCRIBE may be hidden (needs DESCRIBE "
        "on CLUSTER)", found=3, same=1, writes=True,
    ),
    "describe source group": Case(
        "source", ("group", GROUP),
        f"group '{GROUP}': on the source: not authorized: needs DESCRIBE on GROUP {GROUP} [",
    ),
    "read target": Case(
        "target", ("topic", TOPIC), f"topic '{TOPIC}': on the target: not authorized: needs READ on TOPIC {TOPIC} [",
        "describe", found=1, writes=True,
    ),
    "describe target": Case(
        "target", ("topic", TOPIC),
        f"topic '{TOPIC}': on the target: not authorized: needs DESCRIBE on TOPIC {TOPIC} [",
        found=1, writes=True,
    ),
    "read target group": Case(
        "target", ("group", GROUP),
        f"group '{GROUP}': on the target: not authorized: needs READ on GROUP {GROUP} [", "describe", found=3, same=1,
    ),
    "describe target group": Case(
        "target", ("group", GROUP),
        f"group '{GROUP}': on the target: not authorized: needs DESCRIBE on GROUP {GROUP} [",
        found=3,
    ),
}  # fmt: skip


class Pair(NamedTuple):
    source: Secure
    target: Secure
    profiles: Path

    def allow(self, needed: Callable[[str, Needed], Needed]) -> None:
        """Give ann these ACLs, and no others."""
        for side, secure, all_needed in (("source", self.source, ON_SOURCE), ("target", self.target, ON_TARGET)):
            secure.forget("ann")
            acls = needed(side, all_needed).items()
            secure.allow(*(Acl("ann", operation, *resource) for resource, operation in acls))


@pytest.fixture(scope="module")
def pair(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two clusters with ACLs, as ann's profiles east and west."""
    require_kafka(OLD)
    require_kafka(MAIN)
    name = f"pytest-{os.getpid()}-acls"
    options = {"users": ("ann",), "kerberos": False}
    with (
        secure_up(OLD, name=f"{name}-source", properties=calm(OLD), **options) as source,
        secure_up(MAIN, name=f"{name}-target", properties=calm(MAIN), **options) as target,
    ):
        make_copied_topic(source.sandbox.bootstrap, target.sandbox.bootstrap)
        for secure in (source, target):
            make_topics(ClientSettings(parse_bootstrap(secure.sandbox.bootstrap)), {OTHER: {0: 0}})
        commit(source, SOURCE)
        profiles = tmp_path_factory.mktemp("profiles") / "config.toml"
        sides = {"east": source.user_file("ann"), "west": target.user_file("ann")}
        profiles.write_text("".join(f'[profiles.{side}]\ncommand-config = "{file}"\n' for side, file in sides.items()))
        yield Pair(source, target, profiles)


@pytest.fixture
def before(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """The profiles, and the group as it was on the target."""
    monkeypatch.setenv("KGROUPS_CONFIG", str(pair.profiles))
    admin = AdminClient({"bootstrap.servers": pair.target.sandbox.bootstrap})
    admin.delete_consumer_groups([GROUP])[GROUP].exception(60)
    commit(pair.target, BEFORE)


def commit(secure: Secure, offsets: Offsets) -> None:
    admin = AdminClient({"bootstrap.servers": secure.sandbox.bootstrap})
    made = [TopicPartition(*place, offset) for place, offset in offsets.items()]
    admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP, made)])[GROUP].result(60)


def committed(secure: Secure) -> Offsets:
    """Return the offsets of the group that a super user sees, by another client."""
    admin = AdminClient({"bootstrap.servers": secure.sandbox.bootstrap})
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)])[GROUP].result(60)
    return {(each.topic, each.partition): each.offset for each in found.topic_partitions if each.offset >= 0}


def translate(*words: str) -> Answer:
    return run_here("translate", GROUP, "--from", "east", "--to", "west", "-o", "json", *words)


def test_all_acls_suffice(pair: Pair, before: None, tmp_path: Path) -> None:
    pair.allow(lambda _, needed: needed)
    answer = translate("--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
    assert (answer.code, answer.failures, committed(pair.target)) == (0, [], TRANSLATED)
    answer = run_here("parity", "east", "west", GROUP, "-o", "json")
    assert (answer.code, [row["verdict"] for row in answer.items]) == (0, ["same"] * len(SOURCE)), answer.err


@pytest.mark.parametrize("name", CASES)
def test_missing_acl_is_named_and_nothing_is_changed(name: str, pair: Pair, before: None, tmp_path: Path) -> None:
    case = CASES[name]

    def lacking(side: str, needed: Needed) -> Needed:
        changed = {**needed, case.resource: case.less or ""} if side == case.side else needed
        return {resource: operation for resource, operation in changed.items() if operation}

    pair.allow(lacking)
    line = f"kgroups: {case.line}"
    for execute in ((), ("--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))):
        answer = translate(*execute)
        named = [each for each in answer.err.splitlines() if each.startswith(line)]
        planned_only = name == "read target group" and not execute  # a note says that brokers will reject the change
        assert len(named) == (not planned_only), answer.err
        assert answer.code == (not planned_only)
        assert committed(pair.target) == BEFORE and committed(pair.source) == SOURCE
        assert sum(row["new_offset"] is not None for row in answer.items) == case.found, answer.out

    answer = run_here("parity", "east", "west", GROUP, "-o", "json")
    same = [row for row in answer.items if row["verdict"] == "same"]
    assert (answer.code, len(same)) == (3, case.same), answer.out
    if name != "read target group":
        assert len([each for each in answer.err.splitlines() if each.startswith(line)]) == 1, answer.err

    accept = ("--partial", "--including-hidden-offsets")
    answer = translate("--execute", "--yes", *accept, "--undo-file", str(tmp_path / "partial.json"))
    assert answer.code == 1
    assert (committed(pair.target) != BEFORE) == case.writes
    assert committed(pair.target).items() <= TRANSLATED.items()


def test_groups_that_may_be_hidden_are_reported(pair: Pair, before: None) -> None:
    def without_cluster(side: str, needed: Needed) -> Needed:
        return {resource: operation for resource, operation in needed.items() if resource[0] != "cluster"}

    pair.allow(without_cluster)
    needed = {"operation": "DESCRIBE", "resource": "CLUSTER", "name": "kafka-cluster"}
    text = "on the source: the list may be partial: without DESCRIBE on CLUSTER brokers leave out groups"
    for code, words in (
        (3, ("parity", "east", "west")),
        (1, ("translate", "--all-groups", "--from", "east", "--to", "west")),
    ):
        answer = run_here(*words, "-o", "json")
        assert answer.code == code
        assert any(notice.startswith(text) for notice in answer.envelope["notices"]), answer.err
        assert needed.items() <= answer.envelope["missing_acls"][0].items()
    answer = run_here("parity", "east", "west", GROUP, "-o", "json")
    assert not any(notice.startswith(text) for notice in answer.envelope["notices"])
    assert needed.items() <= answer.envelope["missing_acls"][0].items()
