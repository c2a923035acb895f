"""Writes a plan of offsets: OffsetCommit, one group a request and many under way; OffsetDelete for what is to go.

In nobody's name (generation -1, no member id), as Kafka's own AdminClient does it. The broker then refuses a group that
has members at that moment, and writes nothing of it: so nobody is overtaken who joins between plan and execution.

Over the wire, and not by librdkafka, which is as quick, because a half-done change is what must be told truthfully:
librdkafka does not say whether a request that it gave up on was sent, and aborts the process when the answer comes late
(its issue 4605); nor can it take a commit away, without which there is no undo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kgroups.model.acts import AppliedOffset, Result
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.reset import PlanKey, PlannedOffset
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import offset_commit, offset_delete
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.partition_errors import PartitionErrors
from kgroups.protocol.versions import Api

from .ask_coordinators import Question, ask_coordinators
from .describe_groups import NOT_FOUND
from .partition_leaders import by_topic, partition_name
from .reset_plan import by_group

BYTES_A_REQUEST = 400_000
"""What the commits of one request may come to in the broker's log, whose batches are of one megabyte at most."""
_RECORD = 100
"""Bytes of a commit's record beside its texts, at most."""

Part = Sequence[PlannedOffset]
"""Some planned partitions of one group, that go in one request."""
Write = Callable[[GroupId, Part], Call[Mapping[GroupId, PartitionErrors | KafkaError]]]


async def apply_offsets(cluster: Cluster, planned: Iterable[PlannedOffset]) -> Outcome[AppliedOffset]:
    """Writes the plan; one item for each planned partition, sorted, and each failure once.

    Once a request of a group has failed, nothing more is asked for that group.
    """
    entries = sorted(planned, key=lambda entry: entry.key)
    ledger = _Ledger()
    requests = {name: list(_requests(part)) for name, part in by_group(entries)}
    for turn in range(max(map(len, requests.values()), default=0)):
        parts = {name: each[turn] for name, each in requests.items() if turn < len(each)}
        await ledger.send(cluster, offset_commit.API, _commit, parts)
    going = by_group(entry for entry in entries if entry.before and not entry.after)
    await ledger.send(cluster, offset_delete.API, _delete, dict(going))
    applied = tuple(map(ledger.entered, entries))
    return Outcome(applied, tuple(dict.fromkeys(each.failure for each in applied if each.failure)))


def _requests(entries: Part) -> Iterator[Part]:
    """The commits of one group, in as many requests as they need."""
    part: list[PlannedOffset] = []
    size = 0
    for entry in entries:
        if entry.after:
            texts = entry.group_id, entry.topic, entry.after.metadata
            more = _RECORD + 4 * sum(map(len, texts))
            if part and size + more > BYTES_A_REQUEST:
                yield part
                part, size = [], 0
            part.append(entry)
            size += more
    if part:
        yield part


def _commit(group: GroupId, part: Part) -> offset_commit.OffsetCommit:
    topics: dict[str, list[Commit]] = {}
    for entry in part:
        if entry.after:
            topics.setdefault(entry.topic, []).append(entry.after)
    return offset_commit.OffsetCommit(group, topics)


def _delete(group: GroupId, part: Part) -> offset_delete.OffsetDelete:
    return offset_delete.OffsetDelete(group, by_topic((entry.topic, entry.partition) for entry in part))


class _Ledger:
    """What has become of each planned partition so far, and which groups are given up."""

    def __init__(self) -> None:
        self._results: dict[PlanKey, tuple[Result, Failure | None]] = {}
        self._given_up: dict[GroupId, Failure] = {}

    async def send(self, cluster: Cluster, api: Api, write: Write, parts: Mapping[GroupId, Part]) -> None:
        """Sends one request for each group that is not given up."""
        for group, failure in self._given_up.items():
            self._results.update({entry.key: (Result.FAILED, failure) for entry in parts.get(group, ())})
        parts = {group: part for group, part in parts.items() if group not in self._given_up}

        def call(groups: tuple[GroupId, ...]) -> Call[Mapping[GroupId, PartitionErrors | KafkaError]]:
            (group,) = groups
            return write(group, parts[group])

        question = Question("groups written", api, call, chunk=1, changes=True)
        answers = await ask_coordinators(cluster, question, dict.fromkeys(parts))
        for group, failure in answers.failed.items():
            if api is offset_delete.API and failure.error == NOT_FOUND:
                continue  # gone, and its commits with it
            self._given_up[group] = failure
            result = Result.UNKNOWN if group in answers.unknown else Result.FAILED
            self._results.update({entry.key: (result, failure) for entry in parts[group]})
        for group, (node, errors) in answers.found.items():
            for entry in parts[group]:
                if refusal := _refusal(entry, errors, api, node.id):
                    self._results[entry.key] = refusal

    def entered(self, entry: PlannedOffset) -> AppliedOffset:
        """A partition that nothing is known against is written, or has no commit and was to have none."""
        result, failure = self._results.get(entry.key, (Result.APPLIED, None))
        return AppliedOffset(entry, result, failure)


def _refusal(entry: PlannedOffset, errors: PartitionErrors, api: Api, broker: int) -> tuple[Result, Failure] | None:
    pair = (entry.topic, entry.partition)
    name = partition_name(pair)
    if pair not in errors:
        message = f"group '{entry.group_id}': left out of the broker's answer"
        return Result.UNKNOWN, Failure(Scope.PARTITION, name, message, api=api.name, broker=broker)
    error = errors[pair]
    if not error:
        return None
    told = error._replace(message=f"group '{entry.group_id}': {error.message}")
    return Result.FAILED, told.failure(Scope.PARTITION, name, api=api.name, broker=broker)
