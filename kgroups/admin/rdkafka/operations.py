"""Reset offsets and delete groups over librdkafka, one group per request.

It can neither delete a commit nor remove a member: such a plan is rejected, or fails for that partition.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from kgroups.errors import NotSent, UsageError
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import Commit, Isolation, Logs
from kgroups.model.operations.committing import RecentCommits
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.model.operations.results import AppliedOffset, DeletedGroup, GroupDeletion
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result, Scope
from kgroups.model.record import NextRecords
from kgroups.model.time_lag import Position
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, kafka_error

from ..change import hidden_offsets
from ..change.delete_groups import DeleteJournal, plan_delete
from ..change.lookups import Committed, Times, committed_by_group
from ..change.plan_reset import plan_reset
from ..change.reset_request import ResetRequest
from ..change.restore import for_cluster
from ..change.revalidate import revalidate_offsets
from ..change.writers.ledger import WriteJournal
from ..port.capabilities import NO_RECORDS, OFFSET_DELETION, SHARE_OFFSET_DELETION
from ..query.select_groups import Selection
from ..routing.backoff import PIPELINE
from ..routing.partition_leaders import TopicPartition, partition_name
from . import results
from .requests import RequestFailed

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

PartitionFailures = Mapping[TopicPartition, Failure]


class Operations:
    """The changes that an AdminClient supports, over the requests that :class:`.client.RdkafkaAdmin` implements."""

    # Requests, which queries use as well.

    @property
    @abstractmethod
    def cluster_id(self) -> str | None: ...

    @abstractmethod
    async def _pairs(self, selection: Selection, *, with_commits: bool) -> Outcome[results.Pair]: ...

    @abstractmethod
    async def _leaders(self, topics: Iterable[str]) -> dict[str, TopicLeaders | Failure]: ...

    @abstractmethod
    async def _logs_at(self, pairs: set[TopicPartition], ms: int | None) -> tuple[Logs, Times, tuple[Failure, ...]]: ...

    @abstractmethod
    async def _alter(self, group: GroupId, commits: Sequence[tuple[str, Commit]]) -> PartitionFailures: ...

    @abstractmethod
    async def _delete(self, group: GroupId) -> None: ...

    @abstractmethod
    async def _authorizes(self) -> bool: ...

    # Lookups.

    async def topics(self, names: Sequence[str]) -> dict[str, TopicLeaders]:
        return {
            name: _failed_topic(name, entry) if isinstance(entry, Failure) else entry
            for name, entry in (await self._leaders(names)).items()
        }

    async def groups(self, selection: Selection) -> tuple[Outcome[Group], Committed]:
        pairs = await self._pairs(selection, with_commits=True)
        selection.check_complete(pairs.failures)
        committed = committed_by_group(commits for _, commits in pairs.items)
        committed.update({failure.name: {} for failure in pairs.failures if failure.error == NOT_FOUND})
        unmatched = selection.unmatched([group.group_id for group, _ in pairs.items])
        found = pairs.with_items(group for group, _ in pairs.items)
        return found.with_failures(unmatched, results.metadata_notices(pairs.items)), committed

    async def logs(self, pairs: Iterable[TopicPartition], ms: int | None) -> tuple[Logs, Times, tuple[Failure, ...]]:
        return await self._logs_at(set(pairs), ms)

    async def next_records(
        self, positions: Iterable[Position], most: int, isolation: Isolation
    ) -> tuple[Mapping[Position, NextRecords], Mapping[Position, Failure]]:
        raise UsageError(f"--transport librdkafka: {NO_RECORDS}")

    # Operations.

    async def plan_reset(self, request: ResetRequest) -> Outcome[PlannedOffset]:
        request, notices = for_cluster(request, self.cluster_id)
        return (await plan_reset(self, request)).with_failures((), notices)

    async def topic_ids(self, topics: Sequence[str]) -> Mapping[str, int]:
        return {name: entry.topic_id for name, entry in (await self.topics(topics)).items() if entry.topic_id}

    async def revalidate(
        self, planned: Sequence[PlannedOffset], *, with_members: bool = False, force: bool = False
    ) -> Outcome[PlannedOffset]:
        return await revalidate_offsets(self, planned, with_members=with_members, force=force)

    async def apply_offsets(
        self, planned: Sequence[PlannedOffset], journal: WriteJournal | None = None
    ) -> Outcome[AppliedOffset]:
        journal = journal or Journal()

        async def write(name: GroupId, part: Sequence[PlannedOffset]) -> list[AppliedOffset]:
            keys = [entry.key for entry in part]
            done = _applied(part, await _recorded(journal, name, keys, partial(self._write, name, part)))
            journal.enter({each.planned.key: each for each in done})
            return done

        work = list(by_group(planned))
        done = await _run_all((name, partial(write, name, part)) for name, part in work)
        applied: list[AppliedOffset] = []
        for name, part in work:
            result = done[name]
            applied += _applied(part, result) if isinstance(result, RequestFailed) else result
        journal.enter({each.planned.key: each for each in applied})
        return Outcome(tuple(applied), tuple(dict.fromkeys(each.failure for each in applied if each.failure)))

    async def _write(self, group: GroupId, part: Sequence[PlannedOffset]) -> PartitionFailures:
        unsupported = {
            (entry.topic, entry.partition): Failure(
                Scope.PARTITION, partition_name((entry.topic, entry.partition)), f"group '{group}': {reason}"
            )
            for entry in part
            if (reason := _why_unsupported(entry))
        }
        commits = [(entry.topic, entry.after) for entry in part if entry.after and not _why_unsupported(entry)]
        return {**unsupported, **(await self._alter(group, commits) if commits else {})}

    async def plan_delete(self, selection: Selection) -> Outcome[GroupDeletion]:
        return await plan_delete(self, selection)

    async def hidden_offsets(
        self, seen: Mapping[GroupId, Mapping[TopicPartition, object]], way: str
    ) -> Mapping[GroupId, Failure]:
        return await hidden_offsets.hidden_offsets(self, seen, way)

    async def hidden_topics(self) -> frozenset[str] | str:
        # No API of librdkafka lists topics regardless of their ACLs; brokers without an authorizer hide none.
        return results.UNSEEN if await self._authorizes() else frozenset()

    async def all_commits(self, groups: tuple[GroupId, ...]) -> RecentCommits:
        return RecentCommits({}, dict.fromkeys(groups, results.UNREAD_LOG))

    async def delete_groups(
        self, names: Sequence[GroupId], journal: DeleteJournal | None = None
    ) -> Outcome[DeletedGroup]:
        journal = journal or Journal()

        async def delete(name: GroupId) -> None:
            await _recorded(journal, name, [name], partial(self._delete, name))
            journal.enter({name: DeletedGroup(name, Result.APPLIED)})

        groups = sorted(set(names))
        done = await _run_all((name, partial(delete, name)) for name in groups)
        items = []
        for name in groups:
            error = done[name]
            failure = error.failure if error else None
            items.append(DeletedGroup(name, _result(failure, bool(error and error.no_response)), failure))
        journal.enter({item.group_id: item for item in items})
        return Outcome(tuple(items), tuple(item.failure for item in items if item.failure))


async def _recorded(journal: Journal[K, Any], group: GroupId, keys: Sequence[K], send: Callable[[], Awaitable[T]]) -> T:
    """Send a change, and record in its journal that it is sent, or was rejected.

    :raises RequestFailed: also if nothing more may be sent.
    """
    try:
        journal.sending(keys)
    except NotSent as error:
        raise RequestFailed(Failure.of(error, Scope.GROUP, group)) from None
    try:
        return await send()
    except RequestFailed as error:
        if not error.no_response:
            journal.unsent(keys)
        raise


def _applied(part: Sequence[PlannedOffset], result: PartitionFailures | RequestFailed) -> list[AppliedOffset]:
    applied = []
    for entry in sorted(part, key=lambda entry: entry.key):
        failure = result.failure if isinstance(result, RequestFailed) else result.get((entry.topic, entry.partition))
        no_response = isinstance(result, RequestFailed) and result.no_response
        applied.append(AppliedOffset(entry, _result(failure, no_response), failure))
    return applied


def _why_unsupported(entry: PlannedOffset) -> str | None:
    """Return why librdkafka cannot write an entry, or ``None`` if it can."""
    if entry.kind == GroupType.SHARE:
        return SHARE_OFFSET_DELETION.without  # a commit would create a classic group with this name
    if entry.after and entry.after.metadata:
        return results.UNWRITABLE
    return OFFSET_DELETION.without if entry.before and not entry.after else None


def _result(failure: Failure | None, no_response: bool) -> Result:
    return Result.UNKNOWN if no_response else Result.FAILED if failure else Result.APPLIED


def _failed_topic(topic: str, failure: Failure) -> TopicLeaders:
    code = Code.unknown_server_error if failure.code is None else Code(failure.code)
    return TopicLeaders(topic, kafka_error(code, failure.message), {})


async def _run_all(jobs: Iterable[tuple[GroupId, Callable[[], Awaitable[T]]]]) -> dict[GroupId, T | RequestFailed]:
    """Run jobs, :data:`PIPELINE` at the same time; return the result or the error of each."""
    slots = asyncio.Semaphore(PIPELINE)

    async def run(job: Callable[[], Awaitable[T]]) -> T | RequestFailed:
        async with slots:
            try:
                return await job()
            except RequestFailed as error:
                return error

    by_group = dict(jobs)
    return dict(zip(by_group, await asyncio.gather(*map(run, by_group.values())), strict=True))
