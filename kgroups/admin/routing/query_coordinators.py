"""One query about many groups, put to each group's coordinator in batches, until answered or named as failed.

Rules: NOT_COORDINATOR and COORDINATOR_NOT_AVAILABLE: look the group up again. COORDINATOR_LOAD_IN_PROGRESS: ask the
same broker again. Both after a pause, inside one patience (see :mod:`.backoff`). A broker that is gone: look up, ask
once more where the group is now, be it the same broker; failing there again, the group cannot be asked. A change that
was sent and not answered is not sent again: a second answer would not tell what the first had done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kgroups.errors import (
    BrokerUnavailable,
    KgroupsError,
    NotRequested,
    OutcomeUnknown,
    RemoteProtocolError,
    ResponseTooLarge,
)
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import BACK_OFF, DOUBTFUL, MOVED, Code, KafkaError
from kgroups.protocol.versions import Api

from .backoff import Backoff, window
from .coordinators import find_coordinators

if TYPE_CHECKING:
    from .witness import Witness


T = TypeVar("T")


class GroupQuery(NamedTuple, Generic[T]):
    """What is asked: ``call`` makes the request for some groups; below version ``batched`` it takes one at a time.
    ``changes``: it is a change, to be sent once."""

    step: str
    api: Api
    call: Callable[[tuple[GroupId, ...]], Call[Mapping[GroupId, T | KafkaError]]]
    batched: int = 0
    chunk: int = 500
    changes: bool = False
    witness: Witness[Any, Any, T] | None = None


class GroupResults(Generic[T]):
    """Per group: the broker that answered and what it said, or the failure. ``unknown``: of these, the changes that may
    have been made all the same."""

    def __init__(self) -> None:
        self.found: dict[GroupId, tuple[Node, T]] = {}
        self.failed: dict[GroupId, Failure] = {}
        self.unknown: set[GroupId] = set()


async def query_coordinators(
    cluster: Cluster, query: GroupQuery[T], where: Mapping[GroupId, Node | None]
) -> GroupResults[T]:
    """Asks about every group in ``where``; its value is the coordinator, or ``None`` where that is to be found."""
    answers: GroupResults[T] = GroupResults()
    backoff = Backoff(cluster)
    cluster.progress.begin(query.step, len(where))
    pending = dict(where)
    revisited: set[tuple[GroupId, Node]] = set()
    while pending:
        round_ = _Round(query, answers)
        placed = await _place(cluster, pending, answers)
        for node, replies in await fan_out(
            (node, _ask_broker(cluster, query, node, groups)) for node, groups in _by_node(placed)
        ):
            if isinstance(replies, KgroupsError):
                raise replies  # never: _ask_broker keeps errors group by group
            for group, reply in replies.items():
                round_.sort(node, group, reply)
        pending, lost = await _relocate(cluster, round_.gone, revisited)
        if query.changes:  # nothing was sent: there is time until another broker takes the group over
            round_.again.update({group: (None, failure) for group, failure in lost.items()})
        else:
            answers.failed.update(lost)
        stopped = query.witness is not None and query.witness.stopped
        if round_.again and not stopped and await backoff.wait():
            pending.update({group: node for group, (node, _) in round_.again.items()})
            cluster.progress.advance(query.step, -round_.refused)
        else:
            answers.failed.update({group: failure for group, (_, failure) in round_.again.items()})
    answers.unknown &= answers.failed.keys()
    return answers


class _Round(Generic[T]):
    """Sorts one round of replies: answered, failed, to be asked ``again`` (where, if known), or its broker ``gone``."""

    def __init__(self, query: GroupQuery[T], answers: GroupResults[T]) -> None:
        self._api = query.api.name
        self._changes = query.changes
        self._answers = answers
        self.again: dict[GroupId, tuple[Node | None, Failure]] = {}
        self.gone: dict[GroupId, tuple[Node, Failure]] = {}
        self.refused = 0
        """Replies that put off to ``again``."""

    def sort(self, node: Node, group: GroupId, reply: T | KafkaError | KgroupsError) -> None:
        if isinstance(reply, KafkaError):
            failure = reply.failure(Scope.GROUP, group, api=self._api, broker=node.id)
            if self._changes and reply.code in DOUBTFUL:
                self._answers.unknown.add(group)
            if reply.code in MOVED or reply.code in BACK_OFF:
                loading = reply.code == Code.coordinator_load_in_progress
                self.again[group] = (node if loading else None, failure)
                self.refused += 1
            else:
                self._answers.failed[group] = failure
        elif isinstance(reply, KgroupsError):
            contacted = None if isinstance(reply, NotRequested) else node.id
            # Whatever else keeps a change from being made, it does so before the request is sent.
            unsent = self._changes and not isinstance(reply, OutcomeUnknown)
            failure = Failure.of(reply, Scope.GROUP, group, api=self._api, broker=contacted)
            if unsent:
                failure = failure._replace(message=f"not sent: {reply}")
            if isinstance(reply, BrokerUnavailable):
                self.gone[group] = (node, failure)
            else:
                self._answers.failed[group] = failure
                if isinstance(reply, OutcomeUnknown):
                    self._answers.unknown.add(group)
        else:
            self._answers.found[group] = (node, reply)


async def _place(
    cluster: Cluster, pending: Mapping[GroupId, Node | None], answers: GroupResults[T]
) -> dict[GroupId, Node]:
    """The groups with their coordinators; those that were not known are looked up."""
    placed = {group: node for group, node in pending.items() if node}
    lost = [group for group, node in pending.items() if not node]
    if lost:
        found, failed = await find_coordinators(cluster, lost)
        placed.update(found)
        answers.failed.update(failed)
    return placed


async def _relocate(
    cluster: Cluster,
    gone: Mapping[GroupId, tuple[Node, Failure]],
    revisited: set[tuple[GroupId, Node]],
) -> tuple[dict[GroupId, Node | None], dict[GroupId, Failure]]:
    """Looks up the groups whose broker is gone, and sends each to where it is now; to one place once, and no more.
    And those for which there is no place."""
    if not gone:
        return {}, {}
    found, _ = await find_coordinators(cluster, gone)
    moved: dict[GroupId, Node | None] = {}
    lost: dict[GroupId, Failure] = {}
    for group, (_, failure) in gone.items():
        place = found.get(group)
        if place and (group, place) not in revisited and cluster.reachable(place):
            revisited.add((group, place))
            moved[group] = place
        else:
            lost[group] = failure
    return moved, lost


def _by_node(placed: Mapping[GroupId, Node]) -> list[tuple[Node, list[GroupId]]]:
    by_node: dict[Node, list[GroupId]] = {}
    for group, node in placed.items():
        by_node.setdefault(node, []).append(group)
    return sorted(by_node.items())


async def _ask_broker(
    cluster: Cluster, query: GroupQuery[T], node: Node, groups: Sequence[GroupId]
) -> dict[GroupId, T | KafkaError | KgroupsError]:
    """One broker's groups, as many a request as it takes. A request that fails stands for each of its groups."""
    try:
        size = query.chunk if await cluster.speaks(node, query.api, query.batched) else 1
    except KgroupsError as error:
        return dict.fromkeys(groups, error)
    gate = cluster.gate(node, query.api, window(size))

    async def ask(chunk: tuple[GroupId, ...]) -> Mapping[GroupId, T | KafkaError | KgroupsError]:
        try:
            async with gate:
                reply = await _put(cluster, query, node, chunk)
        except ResponseTooLarge as error:
            if query.changes:
                raise
            if len(chunk) == 1:
                return {chunk[0]: error}
            half = len(chunk) // 2
            return {**await ask(chunk[:half]), **await ask(chunk[half:])}
        cluster.progress.advance(query.step, len(chunk))
        return reply

    chunks = [tuple(groups[at : at + size]) for at in range(0, len(groups), size)]
    replies: dict[GroupId, T | KafkaError | KgroupsError] = {}
    for chunk, reply in await fan_out((chunk, ask(chunk)) for chunk in chunks):
        if isinstance(reply, KgroupsError):
            replies.update(dict.fromkeys(chunk, reply))
        else:
            silent = _left_out(query, node)
            replies.update({group: reply.get(group, silent) for group in chunk})
    return replies


async def _put(
    cluster: Cluster, query: GroupQuery[T], node: Node, chunk: tuple[GroupId, ...]
) -> Mapping[GroupId, T | KafkaError]:
    witness = query.witness
    if not query.changes or witness is None:
        send = cluster.change if query.changes else cluster.call
        return await send(node, query.call(chunk))
    witness.sending(chunk)
    try:
        reply = await cluster.change(node, query.call(chunk))
    except OutcomeUnknown:
        raise
    except KgroupsError:
        witness.unsent(chunk)
        raise
    for group in chunk:
        if group in reply:
            witness.answered(node, group, reply[group])
    return reply


def _left_out(query: GroupQuery[T], node: Node) -> KgroupsError:
    message = f"{node}: {query.api} left this group out of its answer"
    return OutcomeUnknown(message) if query.changes else RemoteProtocolError(message)
