"""What changes between a plan and its write, also while a request waits to be repeated: a group is written as planned.

Each group gets one generated event. The truth is known: a group is written if and only if its event is harmless.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import ToOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome, Result
from tests.fakes.asking import ask
from tests.fakes.broker import FakeBroker, FakeCluster
from tests.fakes.cluster_state import FakeMember

OLD, TARGET, START, END, EPOCH = 60, 40, 10, 100, 4

Event = Callable[[FakeCluster, str], None]
"""Changes the cluster, for a group with a topic of the same name."""


def nothing(fake: FakeCluster, name: str) -> None:
    """The group is as planned."""


def records_produced(fake: FakeCluster, name: str) -> None:
    fake.state.topics[name].end += 50


def clean_election(fake: FakeCluster, name: str) -> None:
    topic = fake.state.topics[name]
    topic.history, topic.epoch = {0: {EPOCH: START, EPOCH + 1: END}}, EPOCH + 1


def old_records_deleted(fake: FakeCluster, name: str) -> None:
    fake.state.topics[name].start = TARGET


def member_joined(fake: FakeCluster, name: str) -> None:
    group = fake.state.groups[name]
    group.members, group.state = (FakeMember("m", {name: (0,)}),), "Stable"


def other_offset(fake: FakeCluster, name: str) -> None:
    fake.state.groups[name].commits[name, 0] = Commit(0, OLD + 1, EPOCH)


def other_metadata(fake: FakeCluster, name: str) -> None:
    fake.state.groups[name].commits[name, 0] = Commit(0, OLD, EPOCH, "other")


def other_epoch(fake: FakeCluster, name: str) -> None:
    fake.state.groups[name].commits[name, 0] = Commit(0, OLD, EPOCH - 1)


def commit_deleted(fake: FakeCluster, name: str) -> None:
    del fake.state.groups[name].commits[name, 0]


def transaction_opened(fake: FakeCluster, name: str) -> None:
    fake.state.groups[name].pending = {(name, 0)}


def topic_recreated(fake: FakeCluster, name: str) -> None:
    """With at least as many records, and the same leader epoch: only its ID differs."""
    fake.state.topics[name].topic_id += 1_000


def truncated(fake: FakeCluster, name: str) -> None:
    fake.state.topics[name].end = TARGET - 1


def truncated_and_filled_again(fake: FakeCluster, name: str) -> None:
    """By an unclean leader election: the records below the target are others."""
    topic = fake.state.topics[name]
    topic.history, topic.epoch = {0: {EPOCH: START, EPOCH + 1: TARGET - 1}}, EPOCH + 1


def target_deleted(fake: FakeCluster, name: str) -> None:
    fake.state.topics[name].start = TARGET + 1


def log_unreadable(fake: FakeCluster, name: str) -> None:
    fake.state.fail("ListOffsets", f"{name}-0", ErrorCode.topic_authorization_failed)


HARMLESS: tuple[Event, ...] = (nothing, records_produced, clean_election, old_records_deleted)
HARMFUL: tuple[Event, ...] = (
    member_joined,
    other_offset,
    other_metadata,
    other_epoch,
    commit_deleted,
    transaction_opened,
    topic_recreated,
    truncated,
    truncated_and_filled_again,
    target_deleted,
    log_unreadable,
)


def _rejected(fake: FakeCluster, broker: FakeBroker, late: dict[str, Event], api: str, response: Any) -> Any:
    """Change the cluster when the first request about a group is rejected, and will be repeated."""
    if api == "OffsetCommit" and (event := late.pop(broker.requests[-1].keys[0], None)):
        event(fake, broker.requests[-1].keys[0])
    return response


def _checked(fake: FakeCluster, name: str, event: Event, result: AppliedOffset) -> None:
    now = fake.state.groups[name].commits.get((name, 0))
    written = isinstance(now, Commit) and now.offset == TARGET
    assert written == (event in HARMLESS), (event, result)
    assert (result.result is Result.APPLIED) == written and (written or result.failure), (event, result)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(HARMLESS + HARMFUL), st.booleans()), min_size=1, max_size=12),
    st.sampled_from((ErrorCode.not_coordinator, ErrorCode.coordinator_load_in_progress)),
)
def test_group_is_written_if_and_only_if_it_is_as_planned(events: list[tuple[Event, bool]], waits: ErrorCode) -> None:
    fake = FakeCluster(2, "4.3.1")
    late: dict[str, Event] = {}
    for number, (event, while_waiting) in enumerate(events):
        name = f"g-{number:02}"
        fake.state.topic(name, [number % 2], start=START, end=END, epoch=EPOCH)
        fake.state.group(name, number % 2, commits={(name, 0): Commit(0, OLD, EPOCH)})
        if while_waiting:
            late[name] = event
            fake.state.fail("OffsetCommit", name, waits, 1)
    names = tuple(fake.state.groups)

    async def run(admin: WireClient) -> Outcome[AppliedOffset]:
        planned = await plan_reset(admin.cluster, ResetRequest(Selection(names), ToOffset(TARGET)))
        assert len(planned.items) == len(names)
        for name, (event, while_waiting) in zip(names, events, strict=True):
            if not while_waiting:
                event(fake, name)
        for broker in fake.brokers.values():
            broker.bend = partial(_rejected, fake, broker, late)
        return await apply_offsets(admin.cluster, planned.items)

    done = ask(fake, run)
    results = {each.group: each for each in done.items}
    for name, (event, _) in zip(names, events, strict=True):
        _checked(fake, name, event, results[name])
