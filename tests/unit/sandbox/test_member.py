from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.errors import SandboxError
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.member import Member, beat, consumer, join, range_assignment
from kgroups.sandbox.wire.heartbeat import Heartbeat
from kgroups.sandbox.wire.join_group import Joined, JoinGroup, MemberIdRequired
from kgroups.sandbox.wire.sync_group import SyncGroup

MEMBER = consumer("g", {"t": 2})
JOINED = Joined("m", 1, "m", {"m": MEMBER.metadata})


class Script:
    """A coordinator that gives these answers, one after the other, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[Call[Any]] = []

    async def call(self, group: str, call: Call[Any]) -> Any:
        assert group == "g"
        self.asked.append(call)
        return self._answers.pop(0)

    @property
    def kinds(self) -> Sequence[type]:
        return [type(call) for call in self.asked]


def joined(script: Script) -> Member:
    return asyncio.run(join(cast("CoordinatorClient", script), MEMBER))


def beaten(script: Script, member: Member) -> Member:
    return asyncio.run(beat(cast("CoordinatorClient", script), member))


def error(code: Code) -> KafkaError:
    return kafka_error(code)


def test_join_repeats_with_assigned_member_id() -> None:
    script = Script(MemberIdRequired("m"), JOINED, MEMBER.assignment)
    assert joined(script) == MEMBER._replace(member_id="m", generation=1)
    assert [call.member_id for call in script.asked if isinstance(call, JoinGroup)] == ["", "m"]


def test_join_as_leader_assigns_to_itself() -> None:
    script = Script(JOINED, MEMBER.assignment)
    joined(script)
    assert script.asked[1] == SyncGroup("g", "m", 1, "consumer", "range", {"m": MEMBER.assignment})


@pytest.mark.parametrize(("code", "second"), [(Code.rebalance_in_progress, "m"), (Code.unknown_member_id, "")])
def test_join_repeats_after_rebalance_or_lost_id(code: Code, second: str) -> None:
    script = Script(JOINED, error(code), JOINED._replace(generation=2), MEMBER.assignment)
    assert joined(script).generation == 2
    assert [call.member_id for call in script.asked if isinstance(call, JoinGroup)] == ["", second]


@pytest.mark.parametrize(
    "answers", [(error(Code.group_authorization_failed),), (JOINED, error(Code.group_authorization_failed))]
)
def test_join_refused_is_an_error(answers: tuple[Any, ...]) -> None:
    with pytest.raises(SandboxError, match=r"group g: .*Group: GROUP_AUTHORIZATION_FAILED"):
        joined(Script(*answers))


def test_heartbeat_accepted_changes_nothing() -> None:
    member = MEMBER._replace(member_id="m", generation=1)
    script = Script(None)
    assert beaten(script, member) == member
    assert script.asked == [Heartbeat("g", "m", 1)]


@pytest.mark.parametrize("code", [Code.rebalance_in_progress, Code.unknown_member_id, Code.illegal_generation])
def test_heartbeat_rejected_by_rebalance_joins_again(code: Code) -> None:
    script = Script(error(code), JOINED._replace(member_id="n"), MEMBER.assignment)
    assert beaten(script, MEMBER._replace(member_id="m", generation=1)).member_id == "n"
    assert script.kinds == [Heartbeat, JoinGroup, SyncGroup]


def test_heartbeat_refused_is_an_error() -> None:
    with pytest.raises(SandboxError, match="Heartbeat: GROUP_AUTHORIZATION_FAILED"):
        beaten(Script(error(Code.group_authorization_failed)), MEMBER)


def test_range_gives_first_members_the_remainder_of_every_topic() -> None:
    assert range_assignment(["b", "a", "c"], {"t": 5, "s": 2}) == {
        "a": {"s": [0], "t": [0, 1]},
        "b": {"s": [1], "t": [2, 3]},
        "c": {"t": [4]},
    }


def test_range_gives_one_member_everything() -> None:
    assert range_assignment(["a"], {"t": 3}) == {"a": {"t": [0, 1, 2]}}


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=7, unique=True),
    st.dictionaries(st.text(max_size=3), st.integers(0, 20), max_size=4),
)
def test_range_assigns_every_partition_once_and_contiguously(members: list[str], topics: dict[str, int]) -> None:
    assigned = range_assignment(members, topics)
    assert sorted(assigned) == sorted(members)
    for topic, partitions in topics.items():
        shares = [assigned[member].get(topic, []) for member in sorted(members)]
        assert [partition for share in shares for partition in share] == list(range(partitions))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
