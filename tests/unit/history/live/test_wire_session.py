"""A wire client that opens once and is asked often, also after failures and by several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from kgroups.admin.wire import WireClient
from kgroups.errors import BrokerUnavailable, ClusterUnreachable, HistoryError
from kgroups.history.live.ask import cluster_id, sample_heads, sweep, topic_names
from kgroups.history.live.wire_session import WireSession
from tests.fakes.broker import FakeCluster
from tests.fakes.live_cluster import live_cluster
from tests.fakes.serving import serving


def logins(fake: FakeCluster) -> int:
    return len(fake.asked("ApiVersions"))


def test_all_queries_use_one_login_to_each_broker() -> None:
    with serving(live_cluster()) as fake, WireSession(fake.settings()) as session:
        assert logins(fake) == 0
        assert cluster_id(session) == "fake-cluster"
        sweep(session)
        before = logins(fake)
        assert before <= 2 * len(fake.brokers)  # one for requests that wait for replicas
        for _ in range(3):
            assert cluster_id(session) == "fake-cluster"
            assert sample_heads(session, {"t": {0, 1}}).num_rows == 2
            assert sweep(session).baseline.num_rows == 8
            assert topic_names(session)
        assert logins(fake) == before


def test_threads_take_turns() -> None:
    with serving(live_cluster()) as fake, WireSession(fake.settings()) as session, ThreadPoolExecutor(4) as pool:
        samples = list(pool.map(lambda _: sample_heads(session, {"t": {0, 1}}).num_rows, range(8)))
        assert samples == [2] * 8
        assert logins(fake) <= len(fake.brokers)


@pytest.mark.parametrize(("error", "again"), [(HistoryError("no"), 0), (BrokerUnavailable("gone"), 1)])
def test_query_that_fails_connects_again_unless_its_responses_are_complete(error: Exception, again: int) -> None:
    async def fail(admin: WireClient) -> None:
        raise error

    with serving(live_cluster()) as fake, WireSession(fake.settings()) as session:
        cluster_id(session)
        before = logins(fake)
        with pytest.raises(type(error)):
            session.ask(fail)
        assert cluster_id(session) == "fake-cluster"
        assert logins(fake) == before + again


def test_connections_that_brokers_closed_are_opened_again() -> None:
    fake = live_cluster()
    with serving(fake):
        settings = fake.settings()
        session = WireSession(settings)
        cluster_id(session)
    with pytest.raises(ClusterUnreachable):
        cluster_id(session)
    session.close()


def test_session_that_was_never_used_closes_and_may_be_used_again() -> None:
    with serving(live_cluster()) as fake:
        session = WireSession(fake.settings())
        session.close()
        assert cluster_id(session) == "fake-cluster"
        session.close()
        session.close()
