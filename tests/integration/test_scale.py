"""Hundreds of groups: exact to the last row, and asked about in as few requests as the brokers allow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from math import ceil

import pytest

from kgroups.admin.routing.query_coordinators import GroupQuery
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from tests.integration.asking import run_kgroups
from tests.integration.conftest import BROKERS, wanted_versions
from tests.integration.java_output import JavaTool
from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import MAIN

LOAD = Load(groups=520, partitions=10)
"""More than one batch for a single broker."""

OLDEST = "1.1.1"
"""One request a group, pipelined."""

A_REQUEST: int = GroupQuery._field_defaults["chunk"]
"""Groups in one batch."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "many_groups" in metafunc.fixturenames:
        versions = [name for name in (OLDEST, MAIN) if name in wanted_versions(metafunc.config)]
        metafunc.parametrize("many_groups", versions, indirect=True, scope="module")


@pytest.fixture(scope="module")
def many_groups(
    request: pytest.FixtureRequest, require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnownCluster]:
    """A cluster with nothing but the load in it."""
    require_kafka(request.param)
    with Sandbox.up(request.param, BROKERS[request.param], name=f"pytest-{os.getpid()}-crowd") as sandbox:
        seed_load(sandbox, LOAD)
        yield KnownCluster(sandbox)


def test_describe_all_groups_has_every_row(many_groups: KnownCluster) -> None:
    answer = many_groups.ask("describe", "--all-groups", "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    ends = LOAD.ends()
    assert [
        (row["group"], row["topic"], row["partition"], row["current_offset"], row["log_end_offset"], row["lag"])
        for row in answer.items
    ] == [
        (name, LOAD.topic_of(name), partition, committed, ends[partition], ends[partition] - committed)
        for name in sorted(LOAD.names())
        for partition, committed in sorted(LOAD.commits_of(name).items())
    ]
    assert {row["group"] for row in answer.items if row["consumer_id"]} == {
        name for name in LOAD.names() if name.startswith("stable-")
    }


def test_describe_all_groups_has_states_and_members(many_groups: KnownCluster) -> None:
    answer = many_groups.ask("describe", "--all-groups", "--state", "-o", "json")
    assert answer.code == 0, answer.err
    states = Counter(row["state"] for row in answer.items)
    assert states == {"Stable": LOAD.stable_groups, "Empty": LOAD.groups - LOAD.stable_groups}
    answer = many_groups.ask("describe", "--all-groups", "--members", "-o", "json")
    assert (answer.code, len(answer.items)) == (0, LOAD.stable_groups)
    assert {row["partitions"] for row in answer.items} == {LOAD.partitions}


def test_list_has_every_group_and_filters(many_groups: KnownCluster) -> None:
    assert many_groups.ask("list").lines == sorted(LOAD.names())
    assert len(many_groups.ask("list", "--state", "empty", "-o", "jsonl").lines) == LOAD.groups - LOAD.stable_groups


def test_describe_all_groups_needs_few_requests(many_groups: KnownCluster) -> None:
    """The broker that lists a group coordinates it, so no lookup is sent. Each log is requested once."""
    first = many_groups.sandbox.bootstrap.partition(",")[0]  # alone: no second one is asked because it is slow
    answer = run_kgroups("describe", "--all-groups", "--debug", bootstrap=first)
    brokers = len(many_groups.sandbox.brokers)
    groups = Counter(row["coordinator"]["id"] for row in many_groups.ask("list", "-o", "json").items)
    assert not answer.sent("FindCoordinator")
    assert len(answer.sent("ListGroups")) == brokers
    batches = sum(ceil(count / A_REQUEST) for count in groups.values())
    assert len(answer.sent("DescribeGroups")) == batches + 2 * brokers  # each list is checked before and after
    assert len(answer.sent("OffsetFetch")) == (batches if many_groups.since("3.0") else LOAD.groups)
    assert sum(request.keys for request in answer.sent("OffsetFetch")) == LOAD.groups
    # Of every leader the ends, and the starts.
    logs = Counter(request.broker for request in answer.sent("ListOffsets"))
    assert logs == {broker.id: 2 for broker in many_groups.sandbox.brokers}
    assert sum(request.keys for request in answer.sent("ListOffsets")) == 2 * LOAD.topics * LOAD.partitions
    assert len(answer.sent("Metadata")) <= 2
    assert len(answer.sent("ApiVersions")) <= brokers + 1


def test_describe_named_groups_needs_few_requests(many_groups: KnownCluster) -> None:
    names = list(LOAD.names())[::5]
    answer = many_groups.ask("describe", *names, "--state", "--debug", "-o", "jsonl")
    assert (answer.code, len(answer.lines)) == (0, len(names))
    assert not answer.sent("ListGroups")
    assert len(answer.sent("FindCoordinator")) == (1 if many_groups.since("3.0") else len(names))
    assert len(answer.sent("DescribeGroups")) == len(many_groups.sandbox.brokers)


def test_describe_all_groups_matches_java(many_groups: KnownCluster) -> None:
    """The whole table, row by row, as the newest Java tool has it; it asks group by group."""
    tool = JavaTool(MAIN)
    output = tool.ask(many_groups.sandbox.bootstrap, "--describe", "--all-groups", limit=600)
    answer = many_groups.ask("describe", "--all-groups", "-o", "plain")
    theirs = [{header: text or "-" for header, text in row.items()} for row in output.rows]
    assert len(theirs) == LOAD.groups * LOAD.partitions
    assert sorted(map(tuple, (row.items() for row in answer.table))) == sorted(
        map(tuple, (row.items() for row in theirs))
    )


def test_closed_pipe_ends_silently(many_groups: KnownCluster) -> None:
    command = [sys.executable, "-m", "kgroups", "describe", "--all-groups", "-b", many_groups.sandbox.bootstrap]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline().startswith(b"GROUP ")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_librdkafka_gives_the_same_rows(many_groups: KnownCluster) -> None:
    if many_groups.version != MAIN:
        pytest.skip("one version is enough: it asks group by group")
    theirs = run_kgroups(
        *("describe", "--all-groups", "--transport", "librdkafka", "-o", "csv", "--timeout", "120s"),
        bootstrap=many_groups.sandbox.bootstrap,
        limit=180,
    )
    assert theirs.code == 0
    assert theirs.out == many_groups.ask("describe", "--all-groups", "-o", "csv").out
