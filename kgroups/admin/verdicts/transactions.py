"""Find the transactions that are open in partitions: DescribeProducers, ListTransactions, and DescribeTransactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.outcome import Scope
from kgroups.model.permissions import Acl
from kgroups.model.verdicts.facts import OpenTransaction, Part, Unavailable
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import describe_client_quotas, describe_producers, describe_transactions, list_transactions
from kgroups.protocol.apis.describe_transactions import Transaction
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.versions import Api

from ..routing.partition_leaders import TopicPartition, by_topic, partition_name

Open = Mapping[TopicPartition, tuple[OpenTransaction, ...]]
Missing = Mapping[TopicPartition, tuple[Unavailable, ...]]

NOT_LISTED = (
    "no coordinator lists its transactional ID: the ACL DESCRIBE on the TRANSACTIONAL_ID is missing, or the "
    "transaction is hanging: its coordinator does not know it any more (KIP-664); with this ACL on all transactional "
    "IDs, kafka-transactions.sh find-hanging shows which"
)


async def open_transactions(cluster: Cluster, leaders: Mapping[Node, Iterable[TopicPartition]]) -> tuple[Open, Missing]:
    """Return the open transactions of partitions, by leader, and what is unknown about them."""
    calls = {node: describe_producers.DescribeProducers(by_topic(sorted(pairs))) for node, pairs in leaders.items()}
    found: dict[TopicPartition, tuple[OpenTransaction, ...]] = {}
    missing: dict[TopicPartition, tuple[Unavailable, ...]] = {}
    for node, response in await fan_out((node, cluster.call(node, call)) for node, call in calls.items()):
        for pair in leaders[node]:
            result = response if isinstance(response, KgroupsError) else response.get(pair)
            if isinstance(result, KafkaError):
                failure = result.failure(Scope.PARTITION, partition_name(pair), api="DescribeProducers")
                missing[pair] = (_unavailable(failure.message, failure.acl),)
            elif isinstance(result, KgroupsError):
                missing[pair] = (_unavailable(reason_of(describe_producers.API, result)),)
            elif result is None:
                missing[pair] = (_unavailable("the response of the leader does not contain it"),)
            else:
                found[pair] = tuple(
                    OpenTransaction(each.producer_id, each.began_at, each.last_timestamp)
                    for each in sorted(result, key=lambda each: each.began_at or 0)
                    if each.began_at is not None
                )
    ids = sorted({each.producer_id for some in found.values() for each in some})
    if not ids:
        return found, missing
    names, reasons = await _names(cluster, tuple(ids))
    states = await _states(cluster, names)
    for pair, some in found.items():
        found[pair] = tuple(_with_state(each, names, states) for each in some)
        lacking = [_lacking(each, names, states, reasons) for each in some]
        if reason := next(filter(None, lacking), None):
            missing[pair] = (_unavailable(reason),)
    return found, missing


async def _names(cluster: Cluster, ids: tuple[int, ...]) -> tuple[dict[int, tuple[str, Node]], list[str]]:
    """Return producer ID -> transactional ID and coordinator, and why brokers did not list theirs."""
    names: dict[int, tuple[str, Node]] = {}
    reasons = []
    call = list_transactions.ListTransactions(ids)
    for node, response in await fan_out((node, cluster.call(node, call)) for node in cluster.nodes.values()):
        if isinstance(response, KgroupsError):
            reasons.append(reason_of(list_transactions.API, response))
        elif isinstance(response, KafkaError):
            reasons.append(f"broker {node.id}: {response.message}")
        else:
            names.update((producer_id, (name, node)) for producer_id, name in response.items())
    return names, reasons


async def _states(cluster: Cluster, names: Mapping[int, tuple[str, Node]]) -> dict[str, Transaction | str]:
    """Return transactional ID -> its state, or why it is unknown."""
    by_node: dict[Node, list[str]] = {}
    for name, node in names.values():
        by_node.setdefault(node, []).append(name)
    states: dict[str, Transaction | str] = {}
    jobs = (
        (node, cluster.call(node, describe_transactions.DescribeTransactions(tuple(n)))) for node, n in by_node.items()
    )
    for node, response in await fan_out(jobs):
        for name in by_node[node]:
            result = response if isinstance(response, KgroupsError) else response.get(name, "missing in the response")
            if isinstance(result, KgroupsError):
                states[name] = reason_of(describe_transactions.API, result)
            else:
                states[name] = result.message if isinstance(result, KafkaError) else result
    return states


def _with_state(
    each: OpenTransaction, names: Mapping[int, tuple[str, Node]], states: Mapping[str, Transaction | str]
) -> OpenTransaction:
    if each.producer_id not in names:
        return each
    name, node = names[each.producer_id]
    each = each._replace(transactional_id=name, coordinator=node.id)
    state = states[name]
    if isinstance(state, str) or state.producer_id != each.producer_id:  # the ID has a new producer in the meantime
        return each
    return each._replace(state=state.state, started=state.started, timeout_ms=state.timeout_ms)


def _lacking(
    each: OpenTransaction,
    names: Mapping[int, tuple[str, Node]],
    states: Mapping[str, Transaction | str],
    reasons: list[str],
) -> str | None:
    if each.producer_id not in names:
        return reasons[0] if reasons else NOT_LISTED
    state = states[names[each.producer_id][0]]
    return state if isinstance(state, str) else None


def _unavailable(reason: str, acl: Acl | None = None) -> Unavailable:
    return Unavailable(Part.TRANSACTION, reason, acl)


_SINCE: Mapping[Api, str] = {
    describe_client_quotas.API: "2.6",
    describe_producers.API: "2.8",
    list_transactions.API: "3.0",
    describe_transactions.API: "3.0",
}


def reason_of(api: Api, error: KgroupsError) -> str:
    """Return why a request failed, with the first version of Kafka that has its API if the broker is older."""
    if isinstance(error, UnsupportedVersion):
        return f"requires {api} (Kafka {_SINCE[api]}): {error}"
    return f"{api}: {error}"
