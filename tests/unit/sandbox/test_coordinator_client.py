from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kgroups.admin.routing.coordinators import Found
from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, SandboxError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.deadline import Deadline
from kgroups.protocol.error_codes import Code, kafka_error
from kgroups.sandbox import coordinator_client
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.wire.heartbeat import Heartbeat

ONE, TWO = Node(1, "a", 1), Node(2, "b", 2)
BEAT = Heartbeat("g", "m", 1)


def answers(monkeypatch: pytest.MonkeyPatch, by_node: dict[int, Any], coordinators: list[Node | None]) -> Any:
    """Return the result of a call if brokers respond so and FindCoordinator names these in turn."""
    turns = iter(coordinators)

    async def find(_: Cluster, groups: Iterable[str]) -> Found:
        node = next(turns)
        lost = {group: Failure(Scope.GROUP, group, "the coordinator is not available") for group in groups}
        return (dict.fromkeys(lost, node), {}) if node else ({}, lost)

    async def call(node: Node, _: Heartbeat) -> Any:
        if isinstance(by_node[node.id], Exception):
            raise by_node[node.id]
        return by_node[node.id]

    async def ask() -> Any:
        settings = ClientSettings((), broker_timeout=0.3)
        cluster = SimpleNamespace(nodes={1: ONE, 2: TWO}, call=call, settings=settings, deadline=Deadline(10))
        return await (await CoordinatorClient.to(cast("Cluster", cluster), ["g"])).call("g", BEAT)

    monkeypatch.setattr(coordinator_client, "find_coordinators", find)
    return asyncio.run(ask())


def test_call_follows_moved_group(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = kafka_error(Code.not_coordinator)
    assert answers(monkeypatch, {1: moved, 2: "beaten"}, [ONE, TWO]) == "beaten"


def test_call_follows_group_of_stopped_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(monkeypatch, {1: BrokerUnavailable("gone"), 2: "beaten"}, [ONE, TWO]) == "beaten"


def test_call_returns_other_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten = kafka_error(Code.unknown_member_id)
    assert answers(monkeypatch, {1: forgotten}, [ONE]) == forgotten


def test_call_gives_up_after_its_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxError, match="group g: gone"):
        answers(monkeypatch, {1: BrokerUnavailable("gone")}, [ONE] * 9)
    with pytest.raises(SandboxError, match="group g: the coordinator is not available"):
        answers(monkeypatch, {}, [None])
