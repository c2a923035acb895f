"""The Python API, over fake brokers; the examples of docs/python.md run unchanged."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups import AsyncCluster, Cluster
from kgroups.errors import ClusterUnreachable, UsageError
from kgroups.model.health.limits import Limits
from kgroups.model.operations.reset import ToEarliest, ToGroup, ToOffset
from kgroups.model.outcome import Outcome
from kgroups.model.severity import Severity, Threshold
from tests.documentation.pages import blocks_of
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.serving import serving
from tests.unit.cli.check.test_command import quiet


@pytest.fixture
def bootstrap() -> Iterator[str]:
    fake = FakeCluster(2, "4.3.1")
    fake.state.topic("orders", [0, 1], start=5, end=100)
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    fake.state.group("orders-range", 0, state="Stable", members=held, commits={("orders", 0): 50, ("orders", 1): 100})
    fake.state.group("payments-empty", 1, commits={("orders", 0): 60})
    with serving(fake):
        yield ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())


def test_questions_return_items(bootstrap: str) -> None:
    cluster = Cluster(bootstrap)
    assert [(each.group, each.state) for each in cluster.list().items] == [
        ("orders-range", "Stable"),
        ("payments-empty", "Empty"),
    ]
    assert [each.group for each in cluster.list(states=["Empty"]).items] == ["payments-empty"]
    assert [each.group for each in cluster.describe(regex="pay.*").items] == ["payments-empty"]
    answer = cluster.describe("orders-range", "none")
    assert [group.members[0].member_id for group in answer.items if group.members] == ["m-1"]
    assert [failure.name for failure in answer.failures] == ["none"]
    assert [(row.partition, row.lag) for row in cluster.offsets("orders-range").items] == [(0, 50), (1, 0)]
    assert [row.total_lag for row in cluster.lag(all_groups=True).items] == [50, None]
    assert [row.total_lag for row in cluster.lag("orders-range", by="partition").items] == [50, 0]


def test_check_judges_limits(bootstrap: str) -> None:
    report = Cluster(bootstrap).check("orders-range", limits=Limits(lag=Threshold(critical=40)))
    assert report.severity is Severity.CRITICAL and [each.message for each in report.bad] == ["lag 50 is above 40"]


@pytest.mark.parametrize(("group", "severity"), [("read", Severity.OK), ("behind", Severity.CRITICAL)])
def test_check_trend_requires_an_unread_record(group: str, severity: Severity) -> None:
    fake = FakeCluster(2, "4.3.1")
    quiet(fake)
    with serving(fake):
        cluster = Cluster(",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values()))
        report = cluster.check(group, limits=Limits(trend=True), window=0.02, samples=2)
    assert report.severity is severity, report


def test_check_trend_takes_samples(bootstrap: str) -> None:
    cluster = Cluster(bootstrap)
    report = cluster.check("orders-range", limits=Limits(trend=True), window=0.02, samples=2)
    (found,) = report.bad
    assert found.check == "trend" and found.message.startswith("STALL? in ")
    assert "unread records are unknown" in found.message
    with pytest.raises(UsageError):
        cluster.check("orders-range", limits=Limits(trend=True), samples=1)


def test_reset_is_planned_then_applied(bootstrap: str) -> None:
    cluster = Cluster(bootstrap)
    plan = cluster.plan_reset("payments-empty", to=ToEarliest(), topics=["orders:0"])
    assert [(each.before and each.before.offset, each.after and each.after.offset) for each in plan.items] == [(60, 5)]
    assert [row.current_offset for row in cluster.offsets("payments-empty").items] == [60]
    assert not cluster.apply(plan.items).failures
    assert [row.current_offset for row in cluster.offsets("payments-empty").items] == [5]


def test_empty_selection_is_an_error_except_for_lag(bootstrap: str) -> None:
    cluster = Cluster(bootstrap)
    names: list[str] = []
    for ask in (
        lambda: cluster.describe(*names),
        lambda: cluster.offsets(*names),
        lambda: cluster.check(*names, limits=Limits()),
        lambda: cluster.plan_reset(*names, to=ToEarliest()),
        lambda: cluster.delete(*names),
    ):
        with pytest.raises(UsageError, match="no groups selected"):
            ask()
    assert [row.group for row in cluster.lag(*names)] == [each.group for each in cluster.list()]
    planned = cluster.plan_reset(to=ToEarliest(), all_groups=True)
    assert {each.group for each in planned.items} == {"payments-empty"}
    assert [each.error for each in planned.failures] == ["NON_EMPTY_GROUP"]
    assert {each.group for each in cluster.plan_reset(regex="pay.*", to=ToEarliest()).items} == {"payments-empty"}
    assert cluster.plan_reset("tpyo", to=ToEarliest(), topics=["orders"]).exit_code == 1
    made = cluster.plan_reset("tpyo", to=ToEarliest(), topics=["orders"], create_group=True)
    assert {each.group for each in made.items} == {"tpyo"}


def test_invalid_arguments_are_usage_errors() -> None:
    cluster: Any = Cluster("127.0.0.1:1")  # no server: the errors come before any connection
    plan: Outcome[Any] = Outcome()
    for call, answer in (
        (lambda: cluster.list(states="Empty"), "states must be a list of str, not str"),
        (lambda: cluster.list(states=["foo"]), "states: unknown value 'foo'"),
        (lambda: cluster.list(types=["clasic"]), "types: unknown value 'clasic'"),
        (lambda: cluster.list(types=[1]), "types must be a list of str, not of int"),
        (lambda: cluster.lag("x", topics="orders"), "topics must be a list of str"),
        (lambda: cluster.lag("x", topics=[""]), "topic name must not be empty"),
        (lambda: cluster.lag("x", by="foo"), "by: unknown value 'foo' (valid: group, topic, partition, member)"),
        (lambda: cluster.lag(["a"]), "a group name must be a str, not list; unpack a list of names: *names"),
        (lambda: cluster.describe(""), "a group name must not be empty"),
        (lambda: cluster.describe(regex="("), "regex: '(' is not a valid RE2 regular expression"),
        (lambda: cluster.describe(regex=3), "regex must be a str"),
        (lambda: cluster.describe("a", all_groups=True), "all_groups=True excludes"),
        (lambda: cluster.check("a", limits=5), "limits must be"),
        (lambda: cluster.plan_reset("a", to="earliest"), "to must be a scenario of kgroups (ToEarliest,"),
        (lambda: cluster.plan_reset("a", to=ToEarliest), "to must be a scenario"),
        (lambda: cluster.plan_reset("a", to=ToOffset(-1)), "-1 is not a valid offset"),
        (lambda: cluster.plan_reset("a", to=ToOffset("5")), "'5' is not a valid offset"),  # type: ignore[arg-type]
        (lambda: cluster.plan_reset("a", to=ToGroup("")), "the group to copy must be"),
        (lambda: cluster.plan_reset("a", to=ToEarliest(), topics="orders"), "topics must be a list of str"),
        (lambda: cluster.plan_reset("a", to=ToEarliest(), topics=[]), "topics is empty"),
        (lambda: cluster.apply(plan), "pass the items of the plan, plan.items, not the whole outcome"),
        (lambda: cluster.apply(["x"]), "the plan must be a list of PlannedOffset"),
        (lambda: Cluster("127.0.0.1:1", timeout="5x"), "timeout must be a positive number"),  # type: ignore[arg-type]
        (lambda: Cluster("127.0.0.1:1", transport="foo"), "transport: unknown value 'foo'"),
        (lambda: Cluster(["127.0.0.1:1"]), "bootstrap must be a str"),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError) as caught:
            call()
        assert answer in str(caught.value)


def test_groups_that_are_committed_for_are_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgroups.admin.still_committing.SAMPLE", 0.4)
    fake = FakeCluster(1, "4.3.1")
    fake.state.topic("orders", [0], start=5, end=100)
    fake.state.group("busy", 0, commits={("orders", 0): 60})
    fake.state.group("idle", 0, commits={("orders", 0): 60})
    fake.state.fail("Metadata", "__consumer_offsets", ErrorCode.topic_authorization_failed)

    def commit() -> None:
        while not stop.wait(0.1):
            if "busy" in fake.state.groups:
                fake.state.groups["busy"].commits["orders", 0] = 61 + next(count)

    stop, count = threading.Event(), itertools.count()
    client = threading.Thread(target=commit)
    with serving(fake):
        cluster = Cluster(f"127.0.0.1:{fake.brokers[0].port}")
        client.start()
        try:
            done = cluster.apply(cluster.plan_reset("busy", "idle", to=ToEarliest()).items)
            assert {each.planned.group: each.result.value for each in done.items} == {"idle": "applied"}
            assert [failure.name for failure in done.failures] == ["busy"]
            assert "the offset of orders-0 changed from" in done.failures[0].message
            assert done.failures[0].message.endswith("stop it first, or add force=True")
            assert "committed offsets were only compared twice" in done.notices[0]
            fake.state.fail("Metadata", "orders", ErrorCode.topic_authorization_failed)
            (hidden,) = cluster.delete("idle").failures
            assert "may be hidden" in hidden.message and hidden.message.endswith("or add including_hidden_offsets=True")
            fake.state.fail("Metadata", "orders", ErrorCode.none)
            deleted = cluster.delete("busy", "idle")
            assert {each.group: each.result.value for each in deleted.items} == {"busy": "failed", "idle": "applied"}
            assert not cluster.delete("busy", force=True).failures
        finally:
            stop.set()
            client.join()


def test_async_api_and_running_event_loop_work(bootstrap: str) -> None:
    async def main() -> None:
        awaited = await AsyncCluster(bootstrap).list()
        assert awaited == Cluster(bootstrap).list()  # which a loop that runs does not hinder

    asyncio.run(main())


def test_invalid_servers_and_names_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGROUPS_CONFIG", "")
    with pytest.raises(UsageError):
        Cluster("host:nix")
    with pytest.raises(ClusterUnreachable):
        Cluster("127.0.0.1:1").list()
    with pytest.raises(AttributeError):
        import kgroups

        kgroups.Nothing  # noqa: B018


def test_documentation_examples_run(bootstrap: str, capsys: pytest.CaptureFixture[str]) -> None:
    examples = [block.text for block in blocks_of("docs/python.md") if block.language == "python"]
    assert len(examples) == 2
    for example in examples:
        exec(compile(example.replace("localhost:9092", bootstrap), "docs/python.md", "exec"), {})
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == ["orders-range 50", "no-such-group the group does not exist"]
    assert out[2] == "CRITICAL lag 50 is above 40"
    assert out[3:] == ["orders 0 60 5"]
