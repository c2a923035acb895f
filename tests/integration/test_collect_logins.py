"""How often a collection logs in: a proxy in front of the only broker counts connections, each of which is a login."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kgroups.history.load.store import Store
from kgroups.history.tables import COVERAGE, SHARE_STATES
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from kgroups.sandbox.share import start_share_groups
from tests.fakes.history import rows_of
from tests.integration.asking import run_here
from tests.integration.faults.proxy import Proxy
from tests.integration.versions import MAIN

LOAD = Commits(groups=4, partitions=4, rounds=3)
SESSION = 2
"""Connections of the wire session to one broker: one for reads, one for reads that wait for replicas."""
CONSUMER = 3
"""Connections of librdkafka's consumer to a cluster of one broker: bootstrap server, broker, coordinator."""


class Proxied(NamedTuple):
    sandbox: Sandbox
    proxy: Proxy

    def logins(self, store: Path, *words: str) -> int:
        """Collect, and return the number of connections that it made."""
        before = self._accepted()
        ran = run_here("history", "collect", "--store", str(store), *words)
        assert ran.code == 0, ran.err
        return self._accepted() - before

    def _accepted(self) -> int:
        return sum(front.accepted for front in self.proxy.fronts.values())


@pytest.fixture(scope="module")
def proxied(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch, Proxy(1) as proxy:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        listener = "PROXIED"
        with Sandbox.up(
            MAIN, name="logins", listeners={listener: "PLAINTEXT"}, advertised={listener: proxy.ports}
        ) as sandbox:
            (broker,) = sandbox.brokers
            proxy.start({broker.id: broker.listeners[listener]})
            make_commits(sandbox, LOAD)
            start_share_groups(sandbox, {"shared": {LOAD.topic: {0: 0}}})
            _leave_transaction_open(sandbox.bootstrap)
            yield Proxied(sandbox, proxy)


def _leave_transaction_open(bootstrap: str) -> None:
    """So that the time of the first unread record is requested, too."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "hanging"})
    longest = {"transaction.timeout.ms": 900_000}
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "hangs"} | longest)
    producer.init_transactions(60)
    producer.begin_transaction()
    place = [TopicPartition(LOAD.topic, 0, 1)]
    producer.send_offsets_to_transaction(place, consumer.consumer_group_metadata(), 60)


def test_collection_logs_in_with_one_session_and_one_consumer(proxied: Proxied, tmp_path: Path) -> None:
    where = "--bootstrap-server", proxied.proxy.bootstrap
    store = tmp_path / "history"
    assert proxied.logins(store, *where) <= SESSION + CONSUMER
    assert rows_of(Store(str(store)), SHARE_STATES.name)
    assert [row for row in rows_of(Store(str(store)), COVERAGE.name) if row["unread_since"]]
    assert proxied.logins(store, *where) <= SESSION, "nothing is new"


def test_continuous_collection_logs_in_once(proxied: Proxied, tmp_path: Path) -> None:
    words = "--interval", "500ms", "--duration", "3s", "--sample-every", "500ms"
    assert proxied.logins(tmp_path / "h", "--bootstrap-server", proxied.proxy.bootstrap, *words) <= SESSION + CONSUMER


def test_collection_of_a_profile_logs_in_as_often(
    proxied: Proxied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    profiles = (f'[profiles.{name}]\nbootstrap = "{proxied.proxy.bootstrap}"\n' for name in ("one", "same"))
    config.write_text("".join(profiles))
    monkeypatch.setenv("KGROUPS_CONFIG", str(config))
    assert proxied.logins(tmp_path / "a", "--profile", "one") <= SESSION + CONSUMER
    both = proxied.logins(tmp_path / "b", "--profile", "one", "--profile", "same")
    assert both <= SESSION + CONSUMER + 1, "the other profile asks for the cluster ID"
