"""Deletes the internal topics of streams groups: DeleteTopics. Which they are, is told by the groups themselves."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.errors import BrokerUnavailable, ClusterUnreachable, KgroupsError, OutcomeUnknown, Reason
from kgroups.model.operations.results import DeletedTopic, TopicDeletion
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import delete_topics as api
from kgroups.protocol.error_codes import Code, KafkaError

_DOUBTFUL = frozenset({Code.request_timed_out})
"""GroupResults that leave open whether it will be done: the controller has it, and goes on."""


async def delete_topics(cluster: Cluster, doomed: Sequence[TopicDeletion]) -> Outcome[DeletedTopic]:
    """Deletes them; one item for each, in the order given.

    A topic that is gone already has a failure: it may be that somebody else has made it anew meanwhile, or will.
    """
    if not doomed:
        return Outcome()
    names = tuple(dict.fromkeys(entry.topic for entry in doomed))
    told, reason = await _ask(cluster, names)
    items = [_deleted(entry, told, reason) for entry in doomed]
    return Outcome(tuple(items), tuple(item.failure for item in items if item.failure))


async def _ask(cluster: Cluster, names: tuple[str, ...]) -> tuple[dict[str, str | KafkaError], KgroupsError | None]:
    """What a broker says of each; or why none does. Once it was sent to one, no other is asked."""
    call = api.DeleteTopics(names, int(cluster.settings.broker_timeout * 1000))
    reason: KgroupsError = ClusterUnreachable("the cluster has no brokers", reason=Reason.NO_BROKERS)
    for node in cluster.nodes_by_health():
        try:
            return dict(await cluster.change(node, call)), None
        except OutcomeUnknown as error:
            return {}, error
        except BrokerUnavailable as error:
            reason = error
        except KgroupsError as error:
            return {}, error
    return {}, reason


def _deleted(entry: TopicDeletion, told: dict[str, str | KafkaError], reason: KgroupsError | None) -> DeletedTopic:
    name, group = entry.topic, entry.group.group_id
    answer = told.get(name)
    if isinstance(answer, str):
        return DeletedTopic(group, name, Result.APPLIED)
    if isinstance(answer, KafkaError):
        result = Result.UNKNOWN if answer.code in _DOUBTFUL else Result.FAILED
        return DeletedTopic(group, name, result, answer.failure(Scope.TOPIC, name, api=api.API.name))
    unknown = reason is None or isinstance(reason, OutcomeUnknown)
    failure = Failure(Scope.TOPIC, name, "left out of the broker's answer", api=api.API.name)
    if reason:
        failure = Failure.of(reason, Scope.TOPIC, name, api=api.API.name)
    return DeletedTopic(group, name, Result.UNKNOWN if unknown else Result.FAILED, failure)
