"""Forgets where a share group starts in topics as Kafka's own tool does: unseen, and what the broker said of each."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.groups import GroupId
from kgroups.model.operations.results import ForgottenTopic
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.delete_share_group_offsets import API, DeleteShareGroupOffsets, TopicErrors

from ..routing.query_coordinators import GroupQuery, GroupResults, query_coordinators


async def forget_topics(cluster: Cluster, group: GroupId, topics: Iterable[str]) -> Outcome[ForgottenTopic]:
    """One item for each topic, sorted; a failure of the whole group is in each."""
    wanted = tuple(sorted(set(topics)))

    def call(_: tuple[GroupId, ...]) -> DeleteShareGroupOffsets:
        return DeleteShareGroupOffsets(group, wanted)

    question = GroupQuery("groups written", API, call, chunk=1, changes=True)
    answers = await query_coordinators(cluster, question, {group: None})
    return Outcome(tuple(ForgottenTopic(group, topic, _failure(group, topic, answers)) for topic in wanted))


def _failure(group: GroupId, topic: str, answers: GroupResults[TopicErrors]) -> Failure | None:
    if group in answers.failed:
        return answers.failed[group]
    node, errors = answers.found[group]
    if topic not in errors:
        return Failure(Scope.TOPIC, topic, "left out of the broker's answer", api=API.name)
    error = errors[topic]
    return error.failure(Scope.TOPIC, topic, api=API.name, broker=node.id) if error else None
