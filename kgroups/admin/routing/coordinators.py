"""Find the coordinators of groups: FindCoordinator, batched from v4 on (KIP-699), else pipelined, one group each."""

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
"""Groups per batched request."""

Found = tuple[dict[GroupId, Node], dict[GroupId, Failure]]


async def known_coordinators(cluster: Cluster, groups: Iterable[GroupId]) -> Found:
    """Return the coordinators as they were last looked up; look up those of other groups.

    A broker that no longer coordinates a group rejects requests about it with NOT_COORDINATOR.
    """
    names = list(groups)
    known = {group: cluster.coordinators[group] for group in names if group in cluster.coordinators}
    unknown = [group for group in names if group not in known]
    found, failed = await find_coordinators(cluster, unknown) if unknown else ({}, {})
    return {**known, **found}, failed


async def find_coordinators(cluster: Cluster, groups: Iterable[GroupId]) -> Found:
    """Return the coordinator of each group, or its failure; retry while coordinators are not available yet."""
    found: dict[GroupId, Node] = {}
    failed: dict[GroupId, Failure] = {}
    pending = list(dict.fromkeys(groups))
    cluster.progress.begin("coordinators", len(pending), again=True)
    backoff = Backoff.of(cluster)
    while pending:
        again: dict[GroupId, Failure] = {}
        for group, result in (await _request(cluster, pending)).items():
            if isinstance(result, Node):
                found[group] = result
            elif isinstance(result, KafkaError):
                failures = again if result.code in BACK_OFF else failed
                failures[group] = result.failure(Scope.GROUP, group, api=find_coordinator.API.name)
            else:
                failed[group] = Failure.of(result, Scope.GROUP, group, api=find_coordinator.API.name)
        cluster.progress.advance("coordinators", len(pending) - len(again))
        pending = list(again)
        if pending and not await backoff.wait():
            failed.update(again)
            break
    cluster.coordinators.update(found)
    return found, failed


async def _request(cluster: Cluster, groups: Sequence[GroupId]) -> Mapping[GroupId, Node | KafkaError | KgroupsError]:
    results: dict[GroupId, Node | KafkaError | KgroupsError] = {}
    size = CHUNK if await _supports_batches(cluster) else 1
    chunks = [tuple(groups[at : at + size]) for at in range(0, len(groups), size)]
    slots = asyncio.Semaphore(window(size))

    async def send(chunk: tuple[GroupId, ...]) -> Mapping[GroupId, Node | KafkaError]:
        async with slots:
            needs = find_coordinator.BATCHED if len(chunk) > 1 else 0
            return await cluster.call_any(find_coordinator.FindCoordinator(chunk), needs=needs)

    for chunk, response in await fan_out((chunk, send(chunk)) for chunk in chunks):
        if isinstance(response, KgroupsError):
            results.update(dict.fromkeys(chunk, response))
        else:
            omitted = RemoteProtocolError(f"{find_coordinator.API} did not include this group in its response")
            results.update({group: response.get(group, omitted) for group in chunk})
    return results


async def _supports_batches(cluster: Cluster) -> bool:
    """Return whether any reachable broker supports batched FindCoordinator requests."""
    for node in cluster.nodes_by_health():
        try:
            if await cluster.speaks(node, find_coordinator.API, find_coordinator.BATCHED):
                return True
        except KgroupsError:
            continue
    return False
