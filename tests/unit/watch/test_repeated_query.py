"""Queries that use the same connections one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.loop_thread import LoopThread
from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.watch.repeated_query import RepeatedQuery
from tests.fakes.broker import FakeCluster, close


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 90})
    fake.state.group("b", 1, commits={("orders", 1): 1})


Poll = Callable[[], Outcome]
PollOf = Callable[[str], Poll]


@pytest.fixture
def poll_of() -> Iterator[PollOf]:
    """Return a function that polls a cluster again and again."""
    loop = LoopThread()
    started: list[RepeatedQuery] = []
    selection = Selection(everything=True)

    def polls_of(bootstrap: str) -> Poll:
        polls = RepeatedQuery(ConnectionOptions(ClientSettings(parse_bootstrap(bootstrap)), False))
        started.append(polls)
        return lambda: loop.run(
            polls.run(lambda admin: admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED))
        )

    yield polls_of
    for polls in started:
        loop.run(polls.close())
    loop.close()


def test_queries_without_failures_share_connections_and_unchanged_commits(serve: Callable, poll_of: PollOf) -> None:
    served = serve(fill=shop)
    poll = poll_of(served.bootstrap)
    first = poll()
    opened = [broker.connections for broker in served.fake.brokers.values()]
    second = poll()
    assert [broker.connections for broker in served.fake.brokers.values()] == opened
    assert second.items[0].commits is first.items[0].commits
    served.state.groups["a"].commits["orders", 0] = 95
    assert poll().items[0].commits.topics["orders"][0].offset == 95


def test_query_with_a_failure_is_followed_by_new_connections(serve: Callable, poll_of: PollOf) -> None:
    served = serve(fill=shop)
    poll = poll_of(served.bootstrap)
    poll()
    served.state.fail("ListOffsets", "orders-1", ErrorCode.not_leader_or_follower)
    opened = sum(broker.connections for broker in served.fake.brokers.values())
    assert poll().failures
    assert sum(broker.connections for broker in served.fake.brokers.values()) == opened
    served.state.fail("ListOffsets", "orders-1", ErrorCode.none)
    assert not poll().failures
    assert sum(broker.connections for broker in served.fake.brokers.values()) > opened


def test_connections_that_were_closed_meanwhile_are_no_failure(serve: Callable, poll_of: PollOf) -> None:
    served = serve(fill=shop)
    poll = poll_of(served.bootstrap)
    poll()
    for broker in served.fake.brokers.values():
        broker.fault("Metadata", close, times=1)
    outcome = poll()
    assert not outcome.failures and len(outcome.items) == 2


def test_unreachable_cluster_is_an_error_and_leaves_no_connection(poll_of: PollOf) -> None:
    poll = poll_of("127.0.0.1:1")
    for _ in range(2):
        with pytest.raises(KgroupsError, match="no bootstrap server responded"):
            poll()
