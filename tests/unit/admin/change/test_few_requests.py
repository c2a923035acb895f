"""A change asks brokers once for what they have said, and again when that is no longer true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgroups.admin.change.apply import apply_offsets as writing
from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.admin.change.apply.commit_log import CommitLog
from kgroups.admin.change.apply.write_in_chunks import write_in_chunks
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.routing import recheck
from kgroups.admin.wire import WireClient
from kgroups.api.undo import UndoMemory
from kgroups.cli.main import main
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import FromPlan, PlannedOffset, ToEarliest
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome, Result
from kgroups.model.placement import OFFSETS_TOPIC
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

MEMBER = FakeMember("m", {"t": (0,)})
REQUEST = ResetRequest(Selection(("a",)), ToEarliest())


def fill(fake: FakeCluster) -> None:
    """Broker 0 leads the partition of topic t and coordinates group a."""
    fake.state.topic("t", [0], start=10, end=100)
    fake.state.group("a", 0, commits={("t", 0): 50})


def shop() -> FakeCluster:
    fake = FakeCluster(2, "4.3.1")
    fill(fake)
    return fake


def sent(fake: FakeCluster) -> Counter[str]:
    return Counter(request.api for request in fake.requests)


def reset(fake: FakeCluster, between: Callable[[], object]) -> Outcome[AppliedOffset]:
    """Plan a reset, let something happen, and write the plan over the same connections."""

    async def act(admin: WireClient) -> Outcome[AppliedOffset]:
        planned = await plan_reset(admin.cluster, REQUEST)
        between()
        return await apply_offsets(admin.cluster, planned.items)

    return ask(fake, act)


@pytest.mark.parametrize("topics", [["--all-topics"], ["--topic", "t"]])
def test_reset_of_one_group_sends_eighteen_requests(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, topics: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recheck, "VALID", 3600)  # on a busy machine, too
    served = serve(2, fill=fill)
    # After a second bootstrap server is tried, there is one more ApiVersions.
    words = (
        "reset-offsets",
        "a",
        *topics,
        "--to-earliest",
        "--execute",
        "--yes",
        "-b",
        served.bootstrap.partition(",")[0],
    )
    assert main(words) == 0
    assert served.state.groups["a"].commits == {("t", 0): Commit(0, 10)}
    assert sent(served.fake) == {
        "ApiVersions": 1,
        "Metadata": 4,
        "FindCoordinator": 1,
        "DescribeGroups": 2,
        "ConsumerGroupDescribe": 1,
        "OffsetFetch": 3,
        "ListOffsets": 4,
        "DescribeAcls": 1,
        "OffsetCommit": 1,
    }


def test_reset_looks_up_the_offsets_topic_once(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recheck, "VALID", 3600)  # on a busy machine, too

    def with_topic(fake: FakeCluster) -> None:
        fill(fake)
        fake.state.topic(OFFSETS_TOPIC, [0], logs={0: []})

    served = serve(2, fill=with_topic)
    server = served.bootstrap.partition(",")[0]
    assert main(("reset-offsets", "a", "--all-topics", "--to-earliest", "--execute", "--yes", "-b", server)) == 0
    assert sent(served.fake)["Metadata"] == 3, "when connecting, and topic t for the plan and for the check"


def test_confirmed_plan_is_applied_over_the_same_connection(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: "y")
    served = serve(1, fill=fill)
    assert main(("reset-offsets", "a", "--all-topics", "--to-earliest", "--execute", "-b", served.bootstrap)) == 0
    assert served.state.groups["a"].commits == {("t", 0): Commit(0, 10)}
    assert sent(served.fake)["ApiVersions"] == 1


def test_reset_finds_a_coordinator_that_moved_after_the_plan() -> None:
    fake = shop()
    done = reset(fake, lambda: setattr(fake.state.groups["a"], "coordinator", 1))
    assert [each.result for each in done.items] == [Result.APPLIED] and not done.failures
    assert fake.state.groups["a"].commits == {("t", 0): Commit(0, 10)}
    assert "OffsetCommit" in {request.api for request in fake.brokers[1].requests}


def test_reset_writes_a_group_whose_type_changed_after_the_plan() -> None:
    fake = shop()
    done = reset(fake, lambda: setattr(fake.state.groups["a"], "type", "Consumer"))
    assert [each.result for each in done.items] == [Result.APPLIED] and not done.failures


def test_reset_leaves_a_group_alone_that_became_another_type_with_members() -> None:
    fake = shop()

    def converted() -> None:
        fake.state.group("a", 0, type="Consumer", state="Stable", members=(MEMBER,), commits={("t", 0): 50})

    (failure,) = reset(fake, converted).failures
    assert "active members" in failure.message and sent(fake)["OffsetCommit"] == 0


@pytest.mark.parametrize("again", [False, True])
def test_checked_group_is_checked_again_only_when_time_has_passed(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, again: bool
) -> None:
    """The undo file is saved between the check and the request: if that takes long, the check is repeated."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recheck, "VALID", 3600)
    if again:
        monkeypatch.setattr(writing, "valid_until", lambda began: began)
    served = serve(2, fill=fill)
    words = ("reset-offsets", "a", "--all-topics", "--to-earliest", "--execute", "--yes", "-b", served.bootstrap)
    assert main(words) == 0
    assert sent(served.fake)["DescribeGroups"] == (3 if again else 2)


def test_second_request_of_a_group_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """An undo commits first and then deletes: what was checked for the first request says nothing about the second."""
    monkeypatch.setattr(recheck, "VALID", 3600)
    fake = shop()
    fake.state.topic("t", [0, 0], start=10, end=100)
    fake.state.groups["a"].commits["t", 1] = 51
    undo = FromPlan({("a", "t", 0): 13, ("a", "t", 1): None}, exact=True)

    async def act(admin: WireClient) -> Outcome[AppliedOffset]:
        planned = await plan_reset(admin.cluster, REQUEST._replace(scenario=undo))
        return await write_in_chunks(admin.cluster, planned.items, UndoMemory(admin.cluster))

    written = ask(fake, act)
    assert [each.result for each in written.items] == [Result.APPLIED, Result.APPLIED]
    assert sent(fake)["OffsetCommit"] == sent(fake)["OffsetDelete"] == 1
    assert sent(fake)["DescribeGroups"] == 3, "for the plan, and for each request"


def test_log_of_commits_is_read_where_its_leader_moved_to() -> None:
    fake = shop()
    topic = fake.state.topic(OFFSETS_TOPIC, [0], logs={0: []})

    async def read(admin: WireClient) -> object:
        log = CommitLog(admin.cluster)
        planned = [PlannedOffset("a", "t", 0, None, None)]
        await log.mark(planned)
        topic.leaders[0] = 1
        return await log.read(planned)

    assert ask(fake, read) == ({}, {})
    assert "Fetch" in {request.api for request in fake.brokers[1].requests}
