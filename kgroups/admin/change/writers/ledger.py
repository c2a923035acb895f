"""The results of planned offsets, and the requests that write them: shared by all writers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.offsets import PlanKey
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import NOT_FOUND, Failure, Result, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.partition_errors import PartitionErrors
from kgroups.protocol.versions import Api

from ...routing.partition_leaders import partition_name
from ...routing.query_coordinators import GroupQuery, query_coordinators
from ...routing.witness import Witness

WriteJournal = Journal[PlanKey, AppliedOffset]
Part = Sequence[PlannedOffset]
"""Planned partitions of one group in one request."""
Write = Callable[[GroupId, Part], Call[Mapping[GroupId, PartitionErrors | KafkaError]]]


class Ledger:
    """The result of each planned partition, and the groups with a failed request."""

    def __init__(self, journal: WriteJournal | None = None) -> None:
        self.journal: WriteJournal = journal or Journal()
        self._results: dict[PlanKey, tuple[Result, Failure | None]] = {}
        self._given_up: dict[GroupId, Failure] = {}

    async def send(
        self,
        cluster: Cluster,
        api: Api,
        write: Write,
        parts: Mapping[GroupId, Part],
        *,
        gone_is_done: bool = False,
    ) -> None:
        """Send one request for each group without a failed request.

        :param gone_is_done: whether a group that does not exist is a success, as for deletions.
        """
        for group, failure in self._given_up.items():
            self._results.update({entry.key: (Result.FAILED, failure) for entry in parts.get(group, ())})
        parts = {group: part for group, part in parts.items() if group not in self._given_up}

        def call(groups: tuple[GroupId, ...]) -> Call[Mapping[GroupId, PartitionErrors | KafkaError]]:
            (group,) = groups
            return write(group, parts[group])

        def results(node: Node, group: GroupId, errors: PartitionErrors) -> Mapping[PlanKey, AppliedOffset]:
            refused = {entry: _refusal(entry, errors, api, node.id) for entry in parts[group]}
            return {
                entry.key: AppliedOffset(entry, *(each or (Result.APPLIED, None))) for entry, each in refused.items()
            }

        witness = Witness(self.journal, lambda group: (entry.key for entry in parts[group]), results)
        question: GroupQuery[PartitionErrors] = GroupQuery(
            "groups written", api, call, chunk=1, changes=True, witness=witness
        )
        answers = await query_coordinators(cluster, question, dict.fromkeys(parts))
        for group, failure in answers.failed.items():
            if gone_is_done and failure.error == NOT_FOUND:
                continue
            result = Result.UNKNOWN if group in answers.unknown else Result.FAILED
            self.give_up(group, failure, parts[group], result)
        for group, (node, errors) in answers.found.items():
            for entry in parts[group]:
                if refusal := _refusal(entry, errors, api, node.id):
                    self._results[entry.key] = refusal

    def give_up(self, group: GroupId, failure: Failure, part: Part, result: Result = Result.FAILED) -> None:
        """Send no more requests for a group."""
        self._given_up[group] = failure
        self._results.update({entry.key: (result, failure) for entry in part})

    def entered(self, entry: PlannedOffset) -> AppliedOffset:
        """Return the result of a partition. Without a failure it was written, or had no offset to delete."""
        result, failure = self._results.get(entry.key, (Result.APPLIED, None))
        return AppliedOffset(entry, result, failure)


Writer = Callable[[Cluster, Ledger, Part], Awaitable[None]]
"""Writes the planned offsets of groups of one type, sorted, and enters the results."""


def _refusal(entry: PlannedOffset, errors: PartitionErrors, api: Api, broker: int) -> tuple[Result, Failure] | None:
    pair = (entry.topic, entry.partition)
    name = partition_name(pair)
    if pair not in errors:
        message = f"group '{entry.group_id}': missing in the broker's response"
        return Result.UNKNOWN, Failure(Scope.PARTITION, name, message, api=api.name, broker=broker)
    error = errors[pair]
    if not error:
        return None
    named = error._replace(message=f"group '{entry.group_id}': {error.message}")
    return Result.FAILED, named.failure(Scope.PARTITION, name, api=api.name, broker=broker)
