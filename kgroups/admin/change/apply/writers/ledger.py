"""The results of planned offsets, and the requests that write them: shared by all writers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from kgroups.errors import Reason
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.offsets import PlanKey
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.partition_errors import PartitionErrors
from kgroups.protocol.versions import Api

from ....routing.partition_leaders import partition_name
from ....routing.query_coordinators import GroupQuery, query_coordinators
from ....routing.recheck import Fresh, Recheck
from ....routing.witness import Witness

WriteJournal = Journal[PlanKey, AppliedOffset]
Part = Sequence[PlannedOffset]
"""Planned partitions of one group in one request."""
Write = Callable[[GroupId, Part], Call[Mapping[GroupId, PartitionErrors | KafkaError]]]
Check = Callable[[Sequence[PlannedOffset]], Awaitable[Outcome[PlannedOffset]]]
"""Returns planned offsets as they are to be written now, and why groups must be left alone."""


class Ledger:
    """The result of each planned partition, and the groups with a failed request.

    :ivar left_alone: the groups that are not as planned.
    """

    def __init__(self, journal: WriteJournal | None, check: Check, fresh: Fresh | None = None) -> None:
        """Create an empty ledger.

        :param fresh: groups that were checked a moment ago.
        """
        self.journal: WriteJournal = journal or Journal()
        self.left_alone: dict[GroupId, Failure] = {}
        self._check = check
        self._fresh = fresh
        self._checked: dict[PlanKey, PlannedOffset] = {}
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
        """Send one request for each group without a failed request, each checked again right before.

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
                entry.key: AppliedOffset(self._now(entry), *(each or (Result.APPLIED, None)))
                for entry, each in refused.items()
            }

        async def check(groups: Sequence[GroupId]) -> Mapping[GroupId, Failure]:
            checked = await self._check([entry for group in groups for entry in parts[group]])
            self._checked.update({entry.key: entry for entry in checked.items})
            kept = {entry.group for entry in checked.items}
            reasons = {failure.name: failure for failure in checked.failures}
            return {group: reasons.get(group) or _unread(group) for group in groups if group not in kept}

        witness = Witness(self.journal, lambda group: (entry.key for entry in parts[group]), results)
        recheck = Recheck(check, parts, self._fresh)
        question: GroupQuery[PartitionErrors] = GroupQuery(
            "groups written", api, call, chunk=1, changes=True, witness=witness, recheck=recheck
        )
        answers = await query_coordinators(cluster, question, dict.fromkeys(parts))
        self.left_alone.update(recheck.refused)
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
        left_alone = failure is not None and failure == self.left_alone.get(entry.group)
        return AppliedOffset(self._now(entry), result, failure, left_alone)

    def _now(self, entry: PlannedOffset) -> PlannedOffset:
        """Return a planned offset with what was committed when it was last checked."""
        return self._checked.get(entry.key, entry)


Writer = Callable[[Cluster, Ledger, Part], Awaitable[None]]
"""Writes the planned offsets of groups of one type, sorted, and enters the results."""


def _unread(group: GroupId) -> Failure:
    return Failure(
        Scope.GROUP,
        group,
        "not changed: the check before the change returned nothing about it",
        reason=Reason.INVALID_RESPONSE,
    )


def _refusal(entry: PlannedOffset, errors: PartitionErrors, api: Api, broker: int) -> tuple[Result, Failure] | None:
    pair = (entry.topic, entry.partition)
    name = partition_name(pair)
    if pair not in errors:
        message = f"group '{entry.group}': missing in the broker's response"
        return Result.UNKNOWN, Failure(
            Scope.PARTITION, name, message, api=api.name, broker=broker, reason=Reason.INVALID_RESPONSE
        )
    error = errors[pair]
    if not error:
        return None
    named = error._replace(message=f"group '{entry.group}': {error.message}")
    return Result.FAILED, named.failure(Scope.PARTITION, name, api=api.name, broker=broker)
