"""Fetch what decides when brokers delete records: the settings of topics and brokers, and the sizes of logs.

One DescribeConfigs per leader, for its check interval and its share of the topics: any broker returns the settings of
any topic. One DescribeLogDirs per leader with logs whose size matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.headroom import CHECK_INTERVAL, TOPIC_SETTINGS, Policy, Retention, policy_of
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import describe_configs, describe_log_dirs
from kgroups.protocol.apis.describe_configs import BROKER, TOPIC, DescribeConfigs, Resource, Settings
from kgroups.protocol.apis.describe_log_dirs import DescribeLogDirs
from kgroups.protocol.error_codes import KafkaError

from ..routing.partition_leaders import TopicPartition, by_topic, find_leaders, unreachable

_Answer = Settings | KafkaError | KgroupsError | None


async def fetch_retention(cluster: Cluster, pairs: Iterable[TopicPartition]) -> tuple[Retention, tuple[Failure, ...]]:
    """Return the retention of partitions, as far as it is known, and the failures.

    Partitions without a leader are left out: reading their first unread record fails, too.
    """
    leaders = (await find_leaders(cluster, pairs)).leaders
    failures: list[Failure] = []
    settings, intervals = await _settings(cluster, leaders)
    policies: dict[str, Policy] = {}
    unknown: dict[str, str] = {}
    for topic, (node, answer) in sorted(settings.items()):
        policy = policy_of(answer) if isinstance(answer, Mapping) else None
        if isinstance(policy, Policy):
            policies[topic] = policy
        else:
            what = "its retention is unknown"
            failures.append(_failure(Scope.TOPIC, topic, what, policy or answer, describe_configs.API.name, node))
            unknown[topic] = failures[-1].message
    for node, interval in intervals.items():
        if not isinstance(interval, int):
            what = "the latest time of deletion is unknown"
            failures.append(_failure(Scope.BROKER, str(node.id), what, interval, describe_configs.API.name, node))
    retention = Retention(
        policies,
        unknown=unknown,
        intervals={
            pair: interval
            for node, interval in intervals.items()
            if isinstance(interval, int)
            for pair in leaders[node]
        },
    )
    sized = {
        node: sized for node, each in leaders.items() if (sized := [at for at in each if retention.needs_size(at[0])])
    }
    sizes, reasons, more = await _sizes(cluster, sized)
    return retention._replace(sizes=sizes, sizes_unknown=reasons), (*failures, *more)


async def _settings(
    cluster: Cluster, leaders: Mapping[Node, list[TopicPartition]]
) -> tuple[dict[str, tuple[Node, _Answer]], dict[Node, int | str | KafkaError | KgroupsError]]:
    """Return the settings of each topic, with the broker that was asked, and the check interval of each leader.

    If a broker does not respond, another one is asked about its topics.
    """
    topics: dict[str, Node] = {}
    for node, pairs in sorted(leaders.items()):
        for topic, _ in pairs:
            topics.setdefault(topic, node)
    answers, silent = await _describe(cluster, topics, {Resource(BROKER, str(node.id)): node for node in leaders})
    other = next((node for node in cluster.nodes_by_health() if node not in silent), None)
    if again := {topic: other for topic, node in topics.items() if node in silent and other is not None}:
        answers |= (await _describe(cluster, again, {}))[0]
        topics |= again
    settings = {topic: (node, answers[Resource(TOPIC, topic)]) for topic, node in topics.items()}
    return settings, {node: _interval(answers[Resource(BROKER, str(node.id))]) for node in leaders}


async def _describe(
    cluster: Cluster, topics: Mapping[str, Node], brokers: Mapping[Resource, Node]
) -> tuple[dict[Resource, _Answer], set[Node]]:
    """Ask each broker about its topics and itself; return the answers, and the brokers that do not respond."""
    wanted: dict[Node, dict[Resource, tuple[str, ...]]] = {}
    for topic, node in topics.items():
        wanted.setdefault(node, {})[Resource(TOPIC, topic)] = TOPIC_SETTINGS
    for broker, node in brokers.items():
        wanted.setdefault(node, {})[broker] = (CHECK_INTERVAL,)
    jobs = [(node, cluster.call(node, DescribeConfigs(resources))) for node, resources in sorted(wanted.items())]
    answers: dict[Resource, _Answer] = {}
    silent: set[Node] = set()
    for node, response in await fan_out(jobs):
        if isinstance(response, KgroupsError):
            silent.add(node)
            answers |= dict.fromkeys(wanted[node], response)
        else:
            answers |= {resource: response.get(resource) for resource in wanted[node]}
    return answers, silent


def _interval(answer: _Answer) -> int | str | KafkaError | KgroupsError:
    if not isinstance(answer, Mapping):
        return answer if answer is not None else "missing in the response"
    value = answer.get(CHECK_INTERVAL) or ""
    return int(value) if value.isascii() and value.isdigit() else f"the broker does not report {CHECK_INTERVAL}"


async def _sizes(
    cluster: Cluster, wanted: Mapping[Node, list[TopicPartition]]
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, str], list[Failure]]:
    """Return the sizes of logs on their leaders, why the others are unknown, and the failures."""
    sizes: dict[TopicPartition, int] = {}
    reasons: dict[TopicPartition, str] = {}
    failures: list[Failure] = []
    api = describe_log_dirs.API.name
    jobs = [(node, cluster.call(node, DescribeLogDirs(by_topic(pairs)))) for node, pairs in sorted(wanted.items())]
    for node, response in await fan_out(jobs):
        if isinstance(response, Mapping):
            sizes |= {pair: response[pair] for pair in wanted[node] if pair in response}
            for pair in wanted[node]:
                if pair not in response:
                    reasons[pair] = "missing in the leader's response"
                    failures.append(unreachable(pair, f"its size is {reasons[pair]}", api, node.id))
        else:
            what = "the sizes of its logs are unknown"
            failures.append(_failure(Scope.BROKER, str(node.id), what, response, api, node))
            reasons.update(dict.fromkeys(wanted[node], failures[-1].message.partition(": ")[2]))
    return sizes, reasons, failures


def _failure(
    scope: Scope, name: str, what: str, reason: KafkaError | KgroupsError | str | Settings | None, api: str, node: Node
) -> Failure:
    if isinstance(reason, KafkaError):
        failure = reason.failure(scope, name, api=api, broker=node.id)
    elif isinstance(reason, KgroupsError):
        failure = Failure.of(reason, scope, name, api=api, broker=node.id)
    else:
        text = reason if isinstance(reason, str) else "missing in the response"
        failure = Failure(scope, name, text, api=api, broker=node.id, reason=Reason.INVALID_RESPONSE)
    general = failure.general and f"{what}: {failure.general}"
    return failure._replace(message=f"{what}: {failure.message}", general=general)
