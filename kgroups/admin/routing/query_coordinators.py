"""Send a request about many groups to their coordinators, in batches, with retries.

- NOT_COORDINATOR and COORDINATOR_NOT_AVAILABLE: look up the coordinator again, and retry there after a pause.
- COORDINATOR_LOAD_IN_PROGRESS: retry with the same broker after a pause. The pauses have a limit (:mod:`.backoff`).
- A broker that is unavailable: look up the coordinator, and retry once with each broker, even the same; then fail.
- A change that was sent without a response is never sent again: a second response would not show what the first did.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kgroups.errors import (
    BrokerUnavailable,
    KgroupsError,
    NotAsPlanned,
    NotRequested,
    NotSent,
    OutcomeUnknown,
    RemoteProtocolError,
    ResponseTooLarge,
)
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out, staggered
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import BACK_OFF, DOUBTFUL, MOVED, Code, KafkaError
from kgroups.protocol.versions import Api

from .backoff import Backoff, window
from .coordinators import Found, find_coordinators, known_coordinators

if TYPE_CHECKING:
    from .recheck import Recheck
    from .witness import Witness


T = TypeVar("T")

TURN = 0.05
"""Seconds to wait for the response to a request that waits for other brokers before the next is sent.

Kafka 4.3 needs 3 ms for the start offsets of one share group, but up to 2 s if it reads those of two at the same time.
"""

MOST_WAITING = 200
"""Such requests to one broker, at most: one for each group, so that the others do not wait for the slowest."""


class GroupQuery(NamedTuple, Generic[T]):
    """A request about groups, of which each coordinator gets those that it coordinates."""

    step: str
    """The name of the progress counter."""
    api: Api
    call: Callable[..., Call[Mapping[GroupId, T | KafkaError]]]
    """Make the request for a tuple of groups."""
    batched: int = 0
    """The first version of the API that takes several groups per request."""
    chunk: int = 500
    """Groups per batched request."""
    changes: bool = False
    """Whether it is a change, which is sent only once."""
    witness: Witness[Any, Any, T] | None = None
    recheck: Recheck | None = None
    """Checks the groups of a change right before each request."""
    repeats: bool = False
    """Whether ``call`` accepts :class:`kgroups.protocol.repeats.Repeats` in second place."""
    instead: Callable[..., Call[Mapping[GroupId, T | KafkaError]]] | None = None
    """Make another request, without repeats, for groups whose coordinator waits for replicas and does not respond."""


class GroupResults(Generic[T]):
    """The result or the failure of each group."""

    def __init__(self) -> None:
        self.found: dict[GroupId, tuple[Node, T]] = {}
        """The broker that responded, and the result."""
        self.failed: dict[GroupId, Failure] = {}
        self.unknown: set[GroupId] = set()
        """The failed groups that may have been changed nevertheless."""


async def query_coordinators(
    cluster: Cluster, query: GroupQuery[T], where: Mapping[GroupId, Node | None]
) -> GroupResults[T]:
    """Send the request for every group in ``where``: group -> its coordinator; ``None`` means to look it up."""
    results: GroupResults[T] = GroupResults()
    backoff = Backoff.of(cluster)
    cluster.progress.begin(query.step, len(where))
    pending = dict(where)
    retried: set[tuple[GroupId, Node]] = set()
    look_up = known_coordinators
    while pending:
        round_ = _Round(query, results)
        placed = await _place(cluster, pending, results, look_up)
        look_up = find_coordinators
        for node, replies in await fan_out(
            (node, _query_broker(cluster, query, node, groups)) for node, groups in _by_node(placed)
        ):
            if isinstance(replies, KgroupsError):
                raise replies  # never: _query_broker returns errors for each group
            for group, reply in replies.items():
                round_.sort(node, group, reply)
        pending, lost = await _relocate(cluster, round_.unavailable, retried)
        if query.changes:  # nothing was sent, so it can wait until another broker coordinates the group
            round_.again.update({group: (None, failure) for group, failure in lost.items()})
        else:
            results.failed.update(lost)
        stopped = query.witness is not None and query.witness.stopped
        if round_.again and not stopped and await backoff.wait():
            pending.update({group: node for group, (node, _) in round_.again.items()})
            cluster.progress.advance(query.step, -round_.rejected)
        else:
            results.failed.update({group: failure for group, (_, failure) in round_.again.items()})
    results.unknown &= results.failed.keys()
    return results


class _Round(Generic[T]):
    """Sorts the replies of one round: results, failures, and groups that need another round."""

    def __init__(self, query: GroupQuery[T], results: GroupResults[T]) -> None:
        self._api = query.api.name
        self._changes = query.changes
        self._answers = results
        self.again: dict[GroupId, tuple[Node | None, Failure]] = {}
        """The groups to query again after a pause: their broker, if known, and the error so far."""
        self.unavailable: dict[GroupId, tuple[Node, Failure]] = {}
        """The groups whose broker is unavailable."""
        self.rejected = 0
        """Error codes after which the group is queried again."""

    def sort(self, node: Node, group: GroupId, reply: T | KafkaError | KgroupsError) -> None:
        if isinstance(reply, KafkaError):
            failure = reply.failure(Scope.GROUP, group, api=self._api, broker=node.id)
            if self._changes and reply.code in DOUBTFUL:
                self._answers.unknown.add(group)
            if reply.code in MOVED or reply.code in BACK_OFF:
                loading = reply.code == Code.coordinator_load_in_progress
                self.again[group] = (node if loading else None, failure)
                self.rejected += 1
            else:
                self._answers.failed[group] = failure
        elif isinstance(reply, KgroupsError):
            contacted = None if isinstance(reply, (NotRequested, NotSent)) else node.id
            # Every other error of a change occurs before its request is sent.
            unsent = self._changes and not isinstance(reply, OutcomeUnknown)
            failure = Failure.of(reply, Scope.GROUP, group, api=self._api, broker=contacted)
            if unsent and not isinstance(reply, NotSent):
                failure = failure._replace(message=f"not sent: {reply}")
            if isinstance(reply, NotAsPlanned):
                self._answers.failed[group] = reply.failures[group]
            elif isinstance(reply, BrokerUnavailable):
                self.unavailable[group] = (node, failure)
            else:
                self._answers.failed[group] = failure
                if isinstance(reply, OutcomeUnknown):
                    self._answers.unknown.add(group)
        else:
            self._answers.found[group] = (node, reply)


async def _place(
    cluster: Cluster,
    pending: Mapping[GroupId, Node | None],
    results: GroupResults[T],
    look_up: Callable[[Cluster, Iterable[GroupId]], Awaitable[Found]],
) -> dict[GroupId, Node]:
    """Return the groups with their coordinators; look up those that are unknown."""
    placed = {group: node for group, node in pending.items() if node}
    unplaced = [group for group, node in pending.items() if not node]
    if unplaced:
        found, failed = await look_up(cluster, unplaced)
        placed.update(found)
        results.failed.update(failed)
    return placed


async def _relocate(
    cluster: Cluster,
    unavailable: Mapping[GroupId, tuple[Node, Failure]],
    retried: set[tuple[GroupId, Node]],
) -> tuple[dict[GroupId, Node | None], dict[GroupId, Failure]]:
    """Look up the coordinators of groups whose broker is unavailable.

    :param retried: the retries so far, to be extended: each group is retried once with each broker.
    :returns: the groups to retry with their coordinators, and the failures of the others.
    """
    if not unavailable:
        return {}, {}
    found, _ = await find_coordinators(cluster, unavailable)
    moved: dict[GroupId, Node | None] = {}
    lost: dict[GroupId, Failure] = {}
    for group, (_, failure) in unavailable.items():
        node = found.get(group)
        if node and (group, node) not in retried and cluster.reachable(node):
            retried.add((group, node))
            moved[group] = node
        else:
            lost[group] = failure
    return moved, lost


def _by_node(placed: Mapping[GroupId, Node]) -> list[tuple[Node, list[GroupId]]]:
    by_node: dict[Node, list[GroupId]] = {}
    for group, node in placed.items():
        by_node.setdefault(node, []).append(group)
    return sorted(by_node.items())


async def _fitted(cluster: Cluster, query: GroupQuery[T], node: Node, groups: int) -> tuple[GroupQuery[T], int]:
    """Return the request that a broker supports, and the number of groups in each."""
    if not await cluster.speaks(node, query.api, query.batched):
        return query._replace(instead=None), 1  # no broker this old waits for replicas
    if query.api.waits and not query.changes:
        return query, min(query.chunk, -(-groups // MOST_WAITING))
    return query, query.chunk


async def _query_broker(
    cluster: Cluster, query: GroupQuery[T], node: Node, groups: Sequence[GroupId]
) -> dict[GroupId, T | KafkaError | KgroupsError]:
    """Query one broker, with as many groups per request as it accepts.

    The error of a request counts for each of its groups. If a response is too large, request it again in halves.
    """
    try:
        query, size = await _fitted(cluster, query, node, len(groups))
    except KgroupsError as error:
        return dict.fromkeys(groups, error)
    one_by_one = query.api.waits and not query.changes
    slots = cluster.gate(node, query.api, window(1 if one_by_one else size))

    async def send(chunk: tuple[GroupId, ...]) -> Mapping[GroupId, T | KafkaError | KgroupsError]:
        try:
            async with slots:
                reply = await _send_as_planned(cluster, query, node, chunk)
        except ResponseTooLarge as error:
            if query.changes:
                raise
            if len(chunk) == 1:
                return {chunk[0]: error}
            half = len(chunk) // 2
            return {**await send(chunk[:half]), **await send(chunk[half:])}
        cluster.progress.advance(query.step, len(chunk))
        return reply

    chunks = [tuple(groups[at : at + size]) for at in range(0, len(groups), size)]
    replies: dict[GroupId, T | KafkaError | KgroupsError] = {}
    if one_by_one:
        answers = [each async for each in staggered(((chunk, partial(send, chunk)) for chunk in chunks), TURN)]
    else:
        answers = await fan_out((chunk, send(chunk)) for chunk in chunks)
    for chunk, reply in answers:
        if isinstance(reply, KgroupsError):
            replies.update(dict.fromkeys(chunk, reply))
        else:
            omitted = _omitted(query, node)
            replies.update({group: reply.get(group, omitted) for group in chunk})
    return replies


async def _send_as_planned(
    cluster: Cluster, query: GroupQuery[T], node: Node, chunk: tuple[GroupId, ...]
) -> Mapping[GroupId, T | KafkaError | KgroupsError]:
    """Send one request, without the groups that are not as planned; each of these has an error."""
    try:
        return await _send(cluster, query, node, chunk)
    except NotAsPlanned as error:
        rest = tuple(group for group in chunk if group not in error.failures)
        replies: dict[GroupId, T | KafkaError | KgroupsError] = dict.fromkeys(error.failures, error)
        if rest:
            others = await _send_as_planned(cluster, query, node, rest)
            replies.update(others)
        return replies


async def _send(
    cluster: Cluster, query: GroupQuery[T], node: Node, chunk: tuple[GroupId, ...]
) -> Mapping[GroupId, T | KafkaError]:
    witness = query.witness
    if not query.changes or witness is None:
        send = cluster.change if query.changes else cluster.call
        repeats = (cluster.repeats[query.api.key],) if query.repeats and cluster.repeats is not None else ()
        call = query.call(chunk, *repeats)
        if query.instead is None:
            return await send(node, call)
        replies = await cluster.call_or(node, call, query.instead(chunk))
        if any(isinstance(reply, KafkaError) and reply.code in DOUBTFUL for reply in replies.values()):
            cluster.mark_late(node)  # it gave up; the next request would wait as long
        return replies
    recheck = query.recheck

    async def before() -> bool:
        if recheck is not None and await recheck.took_time(chunk):
            return True
        witness.sending(chunk)
        return False

    try:
        reply = await cluster.change(node, query.call(chunk), before)
    except OutcomeUnknown:
        raise
    except KgroupsError:
        witness.unsent(chunk)
        raise
    for group in chunk:
        if group in reply:
            witness.answered(node, group, reply[group])
    return reply


def _omitted(query: GroupQuery[T], node: Node) -> KgroupsError:
    message = f"{node}: {query.api} did not include this group in its response"
    return OutcomeUnknown(message) if query.changes else RemoteProtocolError(message)
