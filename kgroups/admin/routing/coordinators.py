"""Which broker keeps each group: FindCoordinator, batched where a broker can (KIP-699), else pipelined one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from kgroups.errors import KgroupsError, RemoteProtocolError
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import find_coordinator
from kgroups.protocol.error_codes import BACK_OFF, KafkaError

from .backoff import Backoff, window

CHUNK = 1000
"""Groups a request, where many may be asked about at once."""

Found = tuple[dict[GroupId, Node], dict[GroupId, Failure]]


async def find_coordinators(cluster: Cluster, groups: Iterable[GroupId]) -> Found:
    """Each group's coordinator, or why it is not known. Waits for coordinators that are not available yet."""
    found: dict[GroupId, Node] = {}
    failed: dict[GroupId, Failure] = {}
    pending = list(dict.fromkeys(groups))
    cluster.progress.begin("coordinators", len(pending), again=True)
    backoff = Backoff(cluster)
    while pending:
        again: dict[GroupId, Failure] = {}
        for group, answer in (await _ask(cluster, pending)).items():
            if isinstance(answer, Node):
                found[group] = answer
            elif isinstance(answer, KafkaError):
                told = again if answer.code in BACK_OFF else failed
                told[group] = answer.failure(Scope.GROUP, group, api=find_coordinator.API.name)
            else:
                failed[group] = Failure.of(answer, Scope.GROUP, group, api=find_coordinator.API.name)
        cluster.progress.advance("coordinators", len(pending) - len(again))
        pending = list(again)
        if pending and not await backoff.wait():
            failed.update(again)
            break
    return found, failed


async def _ask(cluster: Cluster, groups: Sequence[GroupId]) -> Mapping[GroupId, Node | KafkaError | KgroupsError]:
    answers: dict[GroupId, Node | KafkaError | KgroupsError] = {}
    size = CHUNK if await _batches(cluster) else 1
    chunks = [tuple(groups[at : at + size]) for at in range(0, len(groups), size)]
    gate = asyncio.Semaphore(window(size))

    async def ask(chunk: tuple[GroupId, ...]) -> Mapping[GroupId, Node | KafkaError]:
        async with gate:
            needs = find_coordinator.BATCHED if len(chunk) > 1 else 0
            return await cluster.call_any(find_coordinator.FindCoordinator(chunk), needs=needs)

    for chunk, result in await fan_out((chunk, ask(chunk)) for chunk in chunks):
        if isinstance(result, KgroupsError):
            answers.update(dict.fromkeys(chunk, result))
        else:
            silent = RemoteProtocolError(f"{find_coordinator.API} left this group out of its answer")
            answers.update({group: result.get(group, silent) for group in chunk})
    return answers


async def _batches(cluster: Cluster) -> bool:
    """Whether some broker that can be reached takes many groups a request."""
    for node in cluster.nodes_by_health():
        try:
            if await cluster.speaks(node, find_coordinator.API, find_coordinator.BATCHED):
                return True
        except KgroupsError:
            continue
    return False
