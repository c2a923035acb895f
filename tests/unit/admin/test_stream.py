"""Round trips, requests, and rows held in memory while a result is streamed, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, NamedTuple

import pytest

from kgroups.admin.query import stream
from kgroups.admin.query.group_types.consumers import COMMITS
from kgroups.admin.query.select_groups import ResolvedSelection, Selection
from kgroups.admin.routing.backoff import BATCHES, PIPELINE
from kgroups.admin.routing.query_coordinators import query_coordinators
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId, ListedGroup
from kgroups.model.outcome import Failure, Outcome
from kgroups.net.cluster import Cluster

PIECE = 10
PIECES = 40
"""Of each coordinator."""
ROUND_TRIP = 0.08


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer instead of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def jump(timeout: float | None) -> object:
            self.now += timeout or 0.0
            return select(0)

        self._selector.select = jump  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now


class Streamed(NamedTuple):
    round_trips: int
    finishes: int
    most_held: int


def streamed(monkeypatch: pytest.MonkeyPatch, brokers: int, coordinator: Callable[[int], int]) -> Streamed:
    """Stream all groups; to ask takes one round trip, and to finish takes two."""
    nodes = {at: Node(at, "kafka", at) for at in range(brokers)}
    groups = [ListedGroup(f"g{at:06}", "consumer", nodes[coordinator(at)]) for at in range(brokers * PIECES * PIECE)]
    held = most_held = finishes = 0

    async def lists(*_: object) -> AsyncGenerator[Outcome[ListedGroup]]:
        for node in nodes.values():
            yield Outcome(tuple(group for group in groups if group.coordinator == node))

    async def ask(located: ResolvedSelection) -> Outcome[GroupId]:
        nonlocal held, most_held
        held += len(located.listed)
        most_held = max(most_held, held)
        await asyncio.sleep(ROUND_TRIP)
        return Outcome(tuple(group.group for group in located.listed))

    async def finish(names: Sequence[GroupId]) -> tuple[Sequence[GroupId], Sequence[Failure]]:
        nonlocal finishes
        finishes += 1
        await asyncio.sleep(2 * ROUND_TRIP)
        return names, ()

    async def read() -> None:
        nonlocal held
        names: list[GroupId] = []
        cluster = Cluster(ClientSettings(parse_bootstrap("kafka:9092")))
        cluster.nodes = nodes
        stages = stream.Stages(ask, finish, lambda name: name)
        async for batch in stream.stream_batches(cluster, Selection(everything=True), stages):
            held -= len(batch.items)
            names += batch.items
        assert names == [group.group for group in groups]

    monkeypatch.setattr(stream, "stream_selected", lists)
    monkeypatch.setattr(stream, "LARGEST_PIECE", PIECE)
    monkeypatch.setattr(stream, "SMALLEST_PIECE", PIECE)
    loop = VirtualLoop()
    try:
        loop.run_until_complete(read())
    finally:
        loop.close()
    return Streamed(round(loop.now / ROUND_TRIP), finishes, most_held)


@pytest.mark.parametrize("brokers", [1, 3, 12])
def test_round_trips_overlap(monkeypatch: pytest.MonkeyPatch, brokers: int) -> None:
    found = streamed(monkeypatch, brokers, lambda at: at * 7919 % brokers)
    assert found.round_trips < PIECES  # one after the other, they are three for each piece
    assert found.finishes < PIECES  # not one for each piece of each coordinator
    assert found.most_held <= stream.MOST_HELD * PIECE * brokers


def test_round_trips_overlap_if_coordinators_follow_names(monkeypatch: pytest.MonkeyPatch) -> None:
    found = streamed(monkeypatch, 3, lambda at: at // (PIECES * PIECE))
    assert found.round_trips < 2 * PIECES
    assert found.most_held <= stream.MOST_HELD * PIECE * 3


@pytest.mark.parametrize(("batched", "most"), [(True, BATCHES), (False, PIPELINE)])
def test_batches_share_the_limit_of_concurrent_requests(batched: bool, most: int) -> None:
    node = Node(1, "kafka", 9092)
    under_way = peak = 0

    class OneBroker(Cluster):
        async def speaks(self, *_: object) -> bool:
            return batched

        async def call(self, node: Node, call: Any) -> Any:
            nonlocal under_way, peak
            under_way += 1
            peak = max(peak, under_way)
            await asyncio.sleep(ROUND_TRIP)
            under_way -= 1
            return {}

    async def ask() -> None:
        cluster = OneBroker(ClientSettings(parse_bootstrap("kafka:9092")))
        query = COMMITS._replace(chunk=1 if not batched else 2)
        names = [f"g{at:04}" for at in range(400)]
        await asyncio.gather(
            *(query_coordinators(cluster, query, dict.fromkeys(names[at : at + 100], node)) for at in (0, 100, 200))
        )

    loop = VirtualLoop()
    loop.run_until_complete(ask())
    loop.close()
    assert peak == most
