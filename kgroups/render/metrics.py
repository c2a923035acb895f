"""Convert groups to Prometheus metrics. Only this module and the exporter command import the Prometheus client.

Names follow common exporters (``kafka_consumergroup_*``, labels ``consumergroup``, ``topic``, ``partition``). Unknown
values have no sample, because a lag of 0 is a fact. A sum over partitions has no sample if one of them is unknown;
``kafka_consumergroup_unknown_partitions`` counts those, so that an alert on both keeps working during an outage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from kgroups.model.groups import GroupId, GroupState
from kgroups.model.health.findings import Seen
from kgroups.model.views.lag_summary import By, count_unknown, is_attended, reads_on_at, shares, tally_of, time_of
from kgroups.model.views.offset_row import OffsetRow

_GROUP = ("consumergroup",)
_PARTITION = ("consumergroup", "topic", "partition")


class Scrape(NamedTuple):
    """The result of one poll of the cluster.

    :ivar failures: number of failures of all polls so far, by scope.
    :ivar rebalances: by group, since the first poll.
    :ivar unanswered: groups that may exist but were not described, with the number of their partitions.
    """

    seen: tuple[Seen, ...]
    rebalances: Mapping[GroupId, int]
    up: bool
    seconds: float
    scrapes: int
    failures: Mapping[str, int]
    unanswered: Mapping[GroupId, int] = MappingProxyType({})


def families(scrape: Scrape, *, partitions: bool = True) -> Iterator[Metric]:
    """Yield the metric families.

    :param partitions: include a sample for each partition of each group, not only sums.
    """
    yield _gauge("kgroups_up", "Whether the cluster answered at all.", [((), float(scrape.up))])
    yield _gauge("kgroups_scrape_duration_seconds", "Duration of this poll.", [((), scrape.seconds)])
    yield _counter("kgroups_scrapes", "Polls of the cluster.", (), [((), scrape.scrapes)])
    failures = [((scope,), count) for scope, count in sorted(scrape.failures.items())]
    yield _counter("kgroups_scrape_failures", "Failures of all polls, by scope.", ("scope",), failures)
    yield from _of_groups(scrape)
    sums, singles = _lags(scrape, partitions)
    yield from sums
    yield from singles


def _of_groups(scrape: Scrape) -> Iterator[Metric]:
    groups = [seen.offsets.group for seen in scrape.seen]
    state = GaugeMetricFamily(
        "kafka_consumergroup_state", "1 for the state that the group is in, 0 for others.", labels=(*_GROUP, "state")
    )
    for group in groups:
        for name in dict.fromkeys((*GroupState.ALL, group.state)):
            state.add_metric((group.group_id, name), float(name == group.state))
    yield state
    info = GaugeMetricFamily(
        "kafka_consumergroup_info",
        "1; its labels have the values.",
        labels=(*_GROUP, "type", "protocol", "coordinator"),
    )
    for group in groups:
        info.add_metric((group.group_id, group.type or "", group.protocol, str(group.coordinator.id)), 1.0)
    yield info
    members = [((group.group_id,), len(group.members)) for group in groups if group.members is not None]
    yield _gauge("kafka_consumergroup_members", "Members of the group.", members, _GROUP)
    rebalances = [((group.group_id,), scrape.rebalances.get(group.group_id, 0)) for group in groups]
    yield _counter(
        "kafka_consumergroup_rebalances", "Rebalances noticed between polls; a lower bound.", _GROUP, rebalances
    )


def _lags(scrape: Scrape, partitions: bool) -> tuple[list[Metric], list[Metric]]:
    total = GaugeMetricFamily(
        "kafka_consumergroup_lag_sum", "Total lag; no sample if the lag of a partition is unknown.", labels=_GROUP
    )
    least = GaugeMetricFamily(
        "kafka_consumergroup_known_lag_sum",
        "Total lag of the partitions where it is known: a lower bound.",
        labels=_GROUP,
    )
    unknown = GaugeMetricFamily(
        "kafka_consumergroup_unknown_partitions",
        "Partitions whose lag is unknown; all, and at least 1, if the group could not be described.",
        labels=_GROUP,
    )
    offsets = GaugeMetricFamily(
        "kafka_consumergroup_current_offset_sum", "Committed offsets, summed up.", labels=_GROUP
    )
    oldest = GaugeMetricFamily(
        "kafka_consumergroup_lag_seconds",
        "Age of the first unread record; no sample if it is unknown for a partition.",
        labels=_GROUP,
    )
    lag = GaugeMetricFamily("kafka_consumergroup_lag", "Records after the committed offset.", labels=_PARTITION)
    offset = GaugeMetricFamily("kafka_consumergroup_current_offset", "The committed offset.", labels=_PARTITION)
    age = GaugeMetricFamily(
        "kafka_consumergroup_partition_lag_seconds", "Age of the first unread record.", labels=_PARTITION
    )
    for seen in scrape.seen:
        name = seen.offsets.group.group_id
        rows = [row for share in shares(seen.offsets, By.GROUP) for row in share.rows]
        attended = is_attended(seen.offsets.group)
        tally = tally_of(rows, seen.ages, attended=attended)
        unknown.add_metric((name,), count_unknown(rows, attended))
        if tally.total_lag is not None:
            total.add_metric((name,), tally.total_lag)
        if tally.known_lag is not None:
            least.add_metric((name,), tally.known_lag)
        if tally.time_lag_ms is not None:
            oldest.add_metric((name,), tally.time_lag_ms / 1000)
        committed = {(row.topic, row.partition): row for row in rows if row.current_offset is not None}
        if committed:
            offsets.add_metric((name,), sum(row.current_offset or 0 for row in committed.values()))
        if partitions:
            for row in {(row.topic, row.partition): row for row in rows if reads_on_at(row) is not None}.values():
                _of_partition(seen, row, lag, offset, age)
    for name, count in sorted(scrape.unanswered.items()):
        unknown.add_metric((name,), count)
    return [total, least, unknown, offsets, oldest], [lag, offset, age]


def _of_partition(
    seen: Seen, row: OffsetRow, lag: GaugeMetricFamily, offset: GaugeMetricFamily, age: GaugeMetricFamily
) -> None:
    labels = (row.group, row.topic or "", str(row.partition))
    if row.current_offset is not None:
        offset.add_metric(labels, row.current_offset)
    if row.lag is not None:
        lag.add_metric(labels, row.lag)
    age_ms = time_of(row, seen.ages).age
    if age_ms is not None:
        age.add_metric(labels, age_ms / 1000)


_Samples = Iterable[tuple[tuple[str, ...], float]]


def _gauge(name: str, help: str, samples: _Samples, labels: tuple[str, ...] = ()) -> Metric:
    family = GaugeMetricFamily(name, help, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family


def _counter(name: str, help: str, labels: tuple[str, ...], samples: _Samples) -> Metric:
    family = CounterMetricFamily(name, help, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family
