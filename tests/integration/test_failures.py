"""Brokers that are killed, hang, return, or refuse: output is true, complete or named as missing, and in time."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.security.acls import Acl, add_acls
from tests.integration.asking import TRIES, Answer, Row, run_here, run_kgroups
from tests.integration.conftest import wanted_versions
from tests.integration.java_output import JavaTool
from tests.integration.terminal import on_terminal
from tests.integration.versions import MAIN

pytestmark = pytest.mark.faults

LOAD = Load(groups=90, partitions=6, topics=3)

UNBOUNDED = 10.0
"""Seconds that a broker may cost by default."""

LASTING = {"broker.session.timeout.ms": "40000"}
"""A broker that hangs stays a broker of the cluster for longer than a test lets it hang."""


def each_broker(patience: float) -> tuple[str, ...]:
    return ("--broker-timeout", f"{patience}s")


def whole_command(patience: float) -> tuple[str, ...]:
    """Return the options for a command that ends before one broker's time is over."""
    return ("--timeout", f"{patience}s", "--broker-timeout", "60s")


@dataclass(frozen=True)
class FaultyCluster:
    """A cluster to be harmed, and how it was when it was well."""

    sandbox: Sandbox
    coordinators: Mapping[str, int]
    """Group -> broker."""
    leaders: Mapping[tuple[str, int], int]
    rows: tuple[Row, ...]
    """Rows of the offsets view for all groups."""
    snapshot: str
    """A file with the state of all groups."""

    def ask(
        self,
        *words: str,
        broken: int | None = None,
        hung: int | None = None,
        bounds: Callable[[float], tuple[str, ...]] = each_broker,
    ) -> Answer:
        """Run a command in this process; repeat it with more time if a broker that is well was too slow.

        :param broken: the broker that cannot respond.
        :param hung: a broker that hangs while the command runs.
        """
        for patience in TRIES:
            with self.paused(hung) if hung else nullcontext():
                answer = run_here(*words, *bounds(patience), bootstrap=self.sandbox.bootstrap)
            # A broker that cannot respond costs its time once.
            if answer.seconds < 2 * patience and late_brokers(answer) <= {broken, hung} - {None}:
                return answer
        pytest.fail(f"{' '.join(words)} took {answer.seconds:.1f} s of {patience:.0f} s:\n{answer.err}")

    def groups_off(self, broker: int) -> list[str]:
        """The groups that other brokers keep."""
        return sorted(name for name, where in self.coordinators.items() if where != broker)

    def place_led_by(self, broker: int) -> tuple[str, str]:
        """Return a group that another broker coordinates, and a partition that this one leads."""
        row = next(
            row
            for row in self.rows
            if self.coordinators[row["group"]] != broker and self.leaders[row["topic"], row["partition"]] == broker
        )
        return row["group"], f"{row['topic']}:{row['partition']}"

    def group_on(self, broker: int) -> str:
        return next(name for name, where in sorted(self.coordinators.items()) if where == broker)

    def logs_without(self, broker: int) -> set[str]:
        """What the broker leads of that to which the others' groups have committed. Not all that it leads: where it so
        happens, all groups of one topic are kept by one broker."""
        return {
            f"{row['topic']}-{row['partition']}" for row in self.rows_without(broker) if row["log_end_offset"] is None
        }

    def rows_without(self, broker: int) -> list[Row]:
        """Return the expected rows of other groups, without log ends of the broker's partitions."""
        return [
            row | (UNKNOWN_LOG if self.leaders[row["topic"], row["partition"]] == broker else {})
            for row in self.rows
            if self.coordinators[row["group"]] != broker
        ]

    @contextmanager
    def killed(self, broker: int) -> Iterator[None]:
        self.sandbox.kill(broker)
        try:
            yield
        finally:
            self.sandbox.restart(broker, timeout=90)

    @contextmanager
    def paused(self, broker: int) -> Iterator[None]:
        self.sandbox.pause(broker)
        try:
            yield
        finally:
            self.sandbox.resume(broker)
            self.sandbox.wait_ready(timeout=60)


def late_brokers(answer: Answer) -> set[int | None]:
    """Return the brokers whose responses did not arrive in time; None for one that is not named."""
    if answer.out.startswith("{"):
        return {failure["broker"] for failure in answer.failures if failure["reason"] in ("no_response", "timeout")}
    return {int(found[1]) for found in re.finditer(r"broker (\d+) \([^)]*\): no response", answer.err)}


UNKNOWN_LOG = {"log_start_offset": None, "log_end_offset": None, "lag": None}


def facts(rows: list[Row]) -> list[Row]:
    """Without the remarks, which are in words."""
    return [{key: value for key, value in row.items() if key != "note"} for row in rows]


@pytest.fixture(scope="module")
def needs_newest(request: pytest.FixtureRequest, require_kafka: Callable[[str], None]) -> None:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)


@pytest.fixture(scope="module")
def faulty_cluster(needs_newest: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyCluster]:
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-victim", properties=LASTING) as sandbox:
        seed_load(sandbox, LOAD)
        listed = run_kgroups("list", "-o", "json", bootstrap=sandbox.bootstrap)
        described = run_kgroups("describe", "--all-groups", "-o", "json", bootstrap=sandbox.bootstrap)
        assert (listed.code, described.code) == (0, 0), listed.err + described.err
        snapshot = str(tmp_path_factory.mktemp("whole") / "whole.snapshot")
        saved = run_here("snapshot", "save", snapshot, "--all-groups", bootstrap=sandbox.bootstrap)
        assert saved.code == 0, saved.err
        topics = AdminClient({"bootstrap.servers": sandbox.bootstrap}).list_topics(timeout=30).topics
        yield FaultyCluster(
            sandbox,
            {row["group"]: row["coordinator"]["id"] for row in listed.items},
            {(name, at): part.leader for name, topic in topics.items() for at, part in topic.partitions.items()},
            tuple(facts(described.items)),
            snapshot,
        )


def test_cluster_is_complete_before_faults(faulty_cluster: FaultyCluster) -> None:
    """Everything that the following tests break is there."""
    assert set(faulty_cluster.coordinators) == set(LOAD.names())
    assert set(faulty_cluster.coordinators.values()) == set(faulty_cluster.leaders.values()) == {1, 2, 3}
    assert len(faulty_cluster.rows) == LOAD.groups * LOAD.partitions


# One broker dead.


@pytest.fixture(scope="class")
def broker_2_killed(faulty_cluster: FaultyCluster) -> Iterator[FaultyCluster]:
    """Broker 2 is dead, but still in the metadata, for some seconds."""
    with faulty_cluster.killed(2):
        yield faulty_cluster


@pytest.fixture(scope="class")
def broker_2_fenced(broker_2_killed: FaultyCluster) -> FaultyCluster:
    """Broker 2 is dead, and all others know: its partitions have no leader."""
    until = time.monotonic() + 120
    for broker in broker_2_killed.sandbox.brokers:
        while broker.id != 2 and 2 in asyncio.run(known_at(f"{broker.host}:{broker.port}")):
            assert time.monotonic() < until
            time.sleep(0.2)
    return broker_2_killed


async def known_at(address: str) -> set[int]:
    """Return the broker IDs in a broker's Metadata."""
    cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(address)))
    async with cluster:
        return set(cluster.nodes)


def names_what_is_missing(err: str) -> bool:
    return "kgroups: broker 2 (127.0.0.1:" in err or "kgroups: topic '__consumer_offsets': " in err


class TestOneDead:
    """The tests stand in the order of events."""

    def test_list_with_killed_broker_shows_the_others(self, broker_2_killed: FaultyCluster) -> None:
        answer = broker_2_killed.ask("list", broken=2)
        assert (answer.code, answer.lines) == (1, broker_2_killed.groups_off(2))
        assert names_what_is_missing(answer.err)

    def test_describe_with_killed_broker_shows_the_others(self, broker_2_killed: FaultyCluster) -> None:
        answer = broker_2_killed.ask("describe", "--all-groups", "-o", "json", broken=2)
        assert (answer.code, facts(answer.items)) == (1, broker_2_killed.rows_without(2))
        assert names_what_is_missing(answer.err)

    def test_killed_broker_first_in_bootstrap_list_is_skipped(self, broker_2_killed: FaultyCluster) -> None:
        first, second, third = (f"{broker.host}:{broker.port}" for broker in broker_2_killed.sandbox.brokers)
        answer = run_here("list", "--debug", bootstrap=f"{second},{third},{first}")
        assert answer.lines == broker_2_killed.groups_off(2)
        assert answer.seconds < UNBOUNDED

    def test_leaderless_coordinators_are_named(self, broker_2_fenced: FaultyCluster) -> None:
        """No broker lists their groups, so a missing group would be silent."""
        for words in (["list"], ["describe", "--all-groups", "--state"]):
            answer = broker_2_fenced.ask(*words, "-o", "json", broken=2)
            assert answer.code == 1
            assert [row["group"] for row in answer.items] == broker_2_fenced.groups_off(2)
            (failure,) = answer.failures
            lost = sorted(
                at
                for (topic, at), leader in broker_2_fenced.leaders.items()
                if topic == "__consumer_offsets" and leader == 2
            )
            assert (failure["scope"], failure["name"]) == ("topic", "__consumer_offsets")
            assert failure["message"].startswith(f"{len(lost)} of 12 partitions have no leader")
            assert f"(partitions {', '.join(map(str, lost))})" in failure["message"]
            assert len(answer.err.splitlines()) == 1

    def test_groups_without_coordinator_are_not_taken_for_deleted(
        self, broker_2_fenced: FaultyCluster, tmp_path: Path
    ) -> None:
        half, whole = str(tmp_path / "half.snapshot"), broker_2_fenced.snapshot
        saved = run_here("snapshot", "save", half, "--all-groups", bootstrap=broker_2_fenced.sandbox.bootstrap)
        assert saved.code == 1, saved.err
        lost = {name for name, where in broker_2_fenced.coordinators.items() if where == 2}
        for files in ((half, whole), (whole, half)):
            answer = run_here("diff", *files, "-o", "json")
            found = {row["group"]: row["result"] for row in answer.items if row["what"] == "group"}
            assert (answer.code, found) == (1, dict.fromkeys(lost, "unknown"))

    def test_pattern_changes_nothing_if_groups_may_be_missing(self, broker_2_fenced: FaultyCluster) -> None:
        answer = broker_2_fenced.ask("delete", "*", broken=2)
        assert answer.code == 1 and "'*' may be the name of a group, and the list of groups is incomplete" in answer.err

    def test_leaderless_partitions_have_no_log_end(self, broker_2_fenced: FaultyCluster) -> None:
        answer = broker_2_fenced.ask("describe", "--all-groups", "-o", "json", broken=2)
        assert (answer.code, facts(answer.items)) == (1, broker_2_fenced.rows_without(2))
        lost = broker_2_fenced.logs_without(2)
        assert lost
        assert {failure["name"] for failure in answer.failures if failure["scope"] == "partition"} == lost
        assert {failure["error"] for failure in answer.failures} == {"LEADER_NOT_AVAILABLE"}
        assert all(row["note"] for row in answer.items if row["log_end_offset"] is None)

    def test_leaderless_partitions_match_java(self, broker_2_fenced: FaultyCluster) -> None:
        name = broker_2_fenced.group_on(1)
        output = JavaTool(MAIN).ask(broker_2_fenced.sandbox.bootstrap, "--describe", "--group", name)
        answer = broker_2_fenced.ask("describe", name, "-o", "plain", broken=2)
        assert {(row["PARTITION"], row["LOG-END-OFFSET"] or "-", row["LAG"] or "-") for row in output.rows} == {
            (row["PARTITION"], row["LOG-END-OFFSET"], row["LAG"]) for row in answer.table
        }

    def test_explain_names_a_partition_without_leader(self, broker_2_fenced: FaultyCluster) -> None:
        group, place = broker_2_fenced.place_led_by(2)
        answer = broker_2_fenced.ask("explain", group, "--partition", place, "-o", "json", broken=2)
        assert (answer.code, [item["verdict"] for item in answer.items]) == (1, ["leaderless"])

    def test_group_without_coordinator_keeps_the_good_one(self, broker_2_fenced: FaultyCluster) -> None:
        lost, good = broker_2_fenced.group_on(2), broker_2_fenced.group_on(3)
        answer = broker_2_fenced.ask("describe", lost, good, "--state", "-o", "json", broken=2)
        assert (answer.code, [row["group"] for row in answer.items]) == (1, [good])
        assert [(failure["scope"], failure["name"], failure["error"]) for failure in answer.failures] == [
            ("group", lost, "COORDINATOR_NOT_AVAILABLE")
        ]


def test_restarted_broker_is_complete_again(faulty_cluster: FaultyCluster) -> None:
    answer = faulty_cluster.ask("describe", "--all-groups", "-o", "json")
    assert (answer.code, answer.failures, facts(answer.items)) == (0, [], list(faulty_cluster.rows))


# One broker that hangs.


def test_hung_broker_costs_one_timeout(faulty_cluster: FaultyCluster) -> None:
    answer = faulty_cluster.ask("describe", "--all-groups", "-o", "json", hung=3)
    assert (answer.code, facts(answer.items)) == (1, faulty_cluster.rows_without(3))
    (failure,) = [failure for failure in answer.failures if failure["scope"] == "broker"]
    assert failure["name"].startswith("broker 3 (")
    waited = re.fullmatch(r"no response to \w+ within ([\d.]+) s", failure["message"])
    assert waited
    assert any(patience - 1 <= float(waited[1]) <= patience for patience in TRIES)  # connecting takes a part of it


def test_explain_names_a_leader_that_does_not_respond(faulty_cluster: FaultyCluster) -> None:
    group, place = faulty_cluster.place_led_by(3)
    answer = faulty_cluster.ask("explain", group, "--partition", place, "-o", "json", hung=3)
    assert (answer.code, [item["verdict"] for item in answer.items]) == (1, ["leader-unresponsive"])


def test_hung_first_bootstrap_server_costs_one_timeout(faulty_cluster: FaultyCluster) -> None:
    """It is first in the bootstrap list, too."""
    servers = faulty_cluster.sandbox.bootstrap.split(",")
    assert servers[0].endswith(f":{faulty_cluster.sandbox.brokers[0].port}")
    answer = faulty_cluster.ask("list", hung=1)
    assert (answer.code, answer.lines) == (1, faulty_cluster.groups_off(1))
    assert "kgroups: broker 1 (" in answer.err


def test_progress_line_is_shown_while_waiting(faulty_cluster: FaultyCluster) -> None:
    """After one second a progress line is shown; it is cleared at the end."""
    words = ("list", "--broker-timeout", f"{TRIES[1]}s")
    with faulty_cluster.paused(3):
        shown = on_terminal(*words, bootstrap=faulty_cluster.sandbox.bootstrap, columns=60, piped=True)
    assert "kgroups: brokers listed 2/3" in shown.text
    assert shown.out.splitlines() == faulty_cluster.groups_off(3)
    assert shown.screen[0].startswith("kgroups: broker 3 (")
    assert [line[:2] for line in shown.screen[1:]] == ["  "] * (len(shown.screen) - 1)  # the one line, wrapped


def test_hung_broker_keeps_other_named_groups(faulty_cluster: FaultyCluster) -> None:
    lost, good = faulty_cluster.group_on(3), faulty_cluster.group_on(1)
    answer = faulty_cluster.ask("describe", lost, good, "--state", "-o", "json", hung=3)
    assert (answer.code, [row["group"] for row in answer.items]) == (1, [good])
    assert [(failure["scope"], failure["name"]) for failure in answer.failures] == [("group", lost)]


def test_total_timeout_bounds_a_hung_broker(faulty_cluster: FaultyCluster) -> None:
    with faulty_cluster.paused(3):
        answer = run_here(
            "describe", "--all-groups", "-o", "json", "--timeout", "3s", bootstrap=faulty_cluster.sandbox.bootstrap
        )
    assert answer.code == 1
    assert answer.seconds < UNBOUNDED
    assert "broker 3 (" in answer.err


def test_hung_broker_with_shorter_total_timeout_keeps_the_others(faulty_cluster: FaultyCluster) -> None:
    """The whole time passes while its list is waited for: the others' rows are whole nevertheless."""
    kept_elsewhere = faulty_cluster.groups_off(2)
    for words in (["--all-groups"], [*kept_elsewhere, faulty_cluster.group_on(2)], ["--topic", "load-0"]):
        answer = faulty_cluster.ask("describe", *words, "-o", "json", hung=2, bounds=whole_command)
        there = [row for row in faulty_cluster.rows_without(2) if words[0] != "--topic" or row["topic"] == "load-0"]
        assert (answer.code, facts(answer.items)) == (1, there)
        assert {failure["broker"] for failure in answer.failures} == {2}


def test_broker_that_resumes_in_time_is_complete(faulty_cluster: FaultyCluster) -> None:
    with (
        faulty_cluster.paused(3),
        running(faulty_cluster, "describe", "--all-groups", "--broker-timeout", "25s", "-o", "json") as process,
    ):
        time.sleep(2)
        faulty_cluster.sandbox.resume(3)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert facts(Answer(0, out.decode(), "", 0).items) == list(faulty_cluster.rows)


def test_broker_killed_during_a_request_keeps_the_others(faulty_cluster: FaultyCluster) -> None:
    """It hangs first, so that the request is surely in flight."""
    began = time.monotonic()
    with running(
        faulty_cluster, "describe", "--all-groups", "--broker-timeout", "25s", "-o", "json", pause=2
    ) as process:
        time.sleep(2)
        with faulty_cluster.killed(2):
            out, err = process.communicate(timeout=60)
            seconds = time.monotonic() - began
    assert process.returncode == 1
    assert b"Traceback" not in err
    assert names_what_is_missing(err.decode())
    assert facts(Answer(1, out.decode(), "", 0).items) == faulty_cluster.rows_without(2)
    assert seconds < 25


def test_watch_continues_through_a_killed_broker(faulty_cluster: FaultyCluster) -> None:
    """Groups of the killed broker stay and are marked as stale until it is back."""
    lost = sorted(set(faulty_cluster.coordinators) - set(faulty_cluster.groups_off(2)))
    with running(faulty_cluster, "watch", "--interval", "500ms", "--count", "1000") as process:
        assert process.stdout is not None
        looks = map(json.loads, process.stdout)

        def first_of(*scopes: str) -> Row:
            return next(look for look in looks if {failure["scope"] for failure in look["failures"]} & {*scopes})

        first = next(looks)
        assert (len(first["items"]), first["failures"]) == (LOAD.groups, [])
        with faulty_cluster.killed(2):
            # Killed behind its last answer about groups, it is only missed as the leader of logs.
            hurt = first_of("broker", "group")
            gone = first_of("topic")  # by then it is no broker of the cluster any more
            for look in (hurt, gone):
                assert [row["group"] for row in look["items"] if row["stale"]] == lost
                assert len(look["items"]) == LOAD.groups
        # Not the first without a failure: a broker that has not begun to load lists no groups, and no error.
        ready = time.time() * 1000
        assert next(look for look in looks if look["at"] > ready)  # this one may have begun before
        healed = next(looks)
        assert not healed["failures"]
        assert not [row for row in healed["items"] if row["stale"]]
        assert len(healed["items"]) == LOAD.groups


@contextmanager
def running(faulty_cluster: FaultyCluster, *words: str, pause: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A running command."""
    if pause:
        faulty_cluster.sandbox.pause(pause)
    command = [sys.executable, "-m", "kgroups", *words, "-b", faulty_cluster.sandbox.bootstrap]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


# Coordinators that move.


def test_coordinators_that_move_are_found(needs_newest: None) -> None:
    """With replicas of the offsets topic a dead broker is a failure for some seconds, then none."""
    replicas = {"offsets.topic.replication.factor": "3"}
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-moving", properties=replicas) as sandbox:
        seed_load(sandbox, LOAD)
        listed = partial(run_here, "list", "-o", "json", bootstrap=sandbox.bootstrap)
        before = listed().items
        orphans = [row["group"] for row in before if row["coordinator"]["id"] == 2]
        assert len(before) == LOAD.groups
        sandbox.kill(2)
        first = listed()
        assert first.code == 1 or len(first.items) == LOAD.groups  # should it all be over already
        until = time.monotonic() + 120
        while (answer := listed()).code or len(answer.items) < len(before):
            # A broker that took over a partition and has not begun to load it lists none of its groups, and no error.
            assert answer.code == 0 or (answer.code == 1 and "kgroups: broker " in answer.err)
            assert time.monotonic() < until
            time.sleep(0.1)
        assert [row["group"] for row in answer.items] == [row["group"] for row in before]
        assert {row["coordinator"]["id"] for row in answer.items} == {1, 3}
        answer = run_kgroups("describe", *orphans, "--state", "-o", "json", bootstrap=sandbox.bootstrap)
        assert (answer.code, [row["group"] for row in answer.items]) == (0, orphans)


# Brokers that refuse, and none at all.


@pytest.fixture(scope="module")
def cluster_with_deny_acls(needs_newest: None) -> Iterator[Sandbox]:
    """One broker with a group and a topic that anonymous clients may not describe. Later tests pause and kill it."""
    guard = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with Sandbox.up(MAIN, name=f"pytest-{os.getpid()}-guarded", properties=guard) as sandbox:
        seed_load(sandbox, Load(groups=6, partitions=2, topics=2))
        denied = (("group", "stable-00001"), ("topic", "load-0"))
        add_acls(sandbox.bootstrap, *(Acl("ANONYMOUS", "describe", *each, deny=True) for each in denied))
        yield sandbox


def test_unauthorized_group_is_a_row_with_the_reason(cluster_with_deny_acls: Sandbox) -> None:
    for view in ("--state", "--members"):
        answer = run_kgroups("describe", "--all-groups", view, "-o", "json", bootstrap=cluster_with_deny_acls.bootstrap)
        assert answer.code == 1
        notes = {row["group"]: row["note"] for row in answer.items}
        assert notes.keys() >= {"stable-00000", "stable-00002"} and notes["stable-00002"] is None
        assert notes["stable-00001"] == "not authorized: needs DESCRIBE on GROUP stable-00001"
        assert [(failure["scope"], failure["name"], failure["error"]) for failure in answer.failures] == [
            ("group", "stable-00001", "GROUP_AUTHORIZATION_FAILED")
        ]


def test_unauthorized_named_group_keeps_the_others(cluster_with_deny_acls: Sandbox) -> None:
    answer = run_kgroups("describe", "stable-00001", "empty-00001", bootstrap=cluster_with_deny_acls.bootstrap)
    assert (answer.code, [row["GROUP"] for row in answer.table]) == (1, ["empty-00001", "empty-00001", "stable-00001"])
    assert "kgroups: group 'stable-00001': " in answer.err
    assert "GROUP_AUTHORIZATION_FAILED" in answer.err


def test_unauthorized_topic_has_rows_without_log_end(cluster_with_deny_acls: Sandbox) -> None:
    """Brokers omit its commits; assignments are known, log ends are not."""
    answer = run_kgroups(
        "describe", "stable-00000", "empty-00001", "-o", "json", bootstrap=cluster_with_deny_acls.bootstrap
    )
    assert answer.code == 1
    rows = [(row["group"], row["topic"], row["partition"], row["log_end_offset"]) for row in answer.items]
    assert rows == [
        ("empty-00001", "load-1", 0, 20),
        ("empty-00001", "load-1", 1, 21),
        ("stable-00000", "load-0", 0, None),
        ("stable-00000", "load-0", 1, None),
    ]
    assert [(failure["scope"], failure["name"], failure["error"]) for failure in answer.failures] == [
        ("topic", "load-0", "TOPIC_AUTHORIZATION_FAILED")
    ]


def test_all_brokers_hung_is_one_line_error(cluster_with_deny_acls: Sandbox) -> None:
    cluster_with_deny_acls.pause(1)
    try:
        answer = run_here("list", "--timeout", "3s", bootstrap=cluster_with_deny_acls.bootstrap)
    finally:
        cluster_with_deny_acls.resume(1)
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1)
    assert answer.err.startswith("kgroups: error: no bootstrap server responded: 127.0.0.1:")
    assert answer.seconds < UNBOUNDED


def test_all_brokers_killed_is_one_line_error(cluster_with_deny_acls: Sandbox) -> None:
    cluster_with_deny_acls.kill(1)
    for words in (["list"], ["describe", "--all-groups"]):
        answer = run_here(*words, bootstrap=f"{cluster_with_deny_acls.bootstrap},127.0.0.1:1")
        assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1)
        assert answer.err.startswith("kgroups: error: no bootstrap server responded: 127.0.0.1:")
        assert answer.err.count("connection refused") == 2
        assert answer.seconds < UNBOUNDED
