"""Convert samples of groups to Prometheus metrics. Only this module and the exporter command import the client library.

Names and labels of ``kafka_*`` are those of kafka_exporter, and of ``kminion_*`` those of kminion. Unknown values have
no sample, because a lag of 0 is a fact. A sum over partitions has no sample if one of them is unknown and was never
known; ``kafka_consumergroup_unknown_partitions`` counts those that are unknown now.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from itertools import chain, groupby
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.utils import floatToGoString

from kgroups.model.groups import GroupId, GroupState
from kgroups.model.outcome import Scope
from kgroups.model.watch.group_samples import GroupSample, LogSample, PartitionSample
from kgroups.version import __version__

Encode = Callable[[Any], bytes]
_number: Callable[[float], str] = floatToGoString
EOF = b"# EOF\n"
"""The end of an exposition in OpenMetrics."""

Values = Iterable[tuple[tuple[str, ...], float | None]]


class Level(IntEnum):
    """The granularity of a metric."""

    GROUP = 1
    TOPIC = 2
    PARTITION = 3


class Scrape(NamedTuple):
    """The result of one poll of the cluster; times in seconds since 1970.

    :ivar failures: number of failures of all polls so far, by scope.
    :ivar rebalances: by group, since the first poll.
    :ivar reached_at: the start of the last poll that reached the cluster; no value that is not stale is older.
    """

    groups: tuple[GroupSample, ...] = ()
    logs: tuple[LogSample, ...] = ()
    rebalances: Mapping[GroupId, int] = MappingProxyType({})
    up: bool = False
    seconds: float = 0.0
    scrapes: int = 0
    failures: Mapping[str, int] = MappingProxyType({})
    reached_at: float | None = None


class _Family(NamedTuple):
    name: str
    help: str
    level: Level
    labels: tuple[str, ...]
    values: Callable[[GroupSample], Values]


class _LogFamily(NamedTuple):
    name: str
    help: str
    labels: tuple[str, ...]
    value: Callable[[LogSample], int | None]


def texts(
    scrape: Scrape,
    encode: Encode,
    *,
    level: Level = Level.PARTITION,
    kminion: bool = False,
    max_series: int | None = None,
) -> Iterator[bytes]:
    """Yield the text of each metric family.

    Families of groups and logs are written here: as samples of the client library, they take ten times as long.

    :param encode: an encoder of the client library; formats differ in the header of a family, not in its gauges.
    :param level: the finest granularity.
    :param kminion: also yield the names of kminion.
    :param max_series: maximum number of series of groups and logs. Group series take precedence over topic series,
        those over log and partition series, and groups are taken in the order of their names.
    """
    for metric in _of_polls(scrape):
        yield text_of(metric, encode)
    tables = [each for each in (*GROUP_FAMILIES, *(KMINION_FAMILIES if kminion else ())) if each.level <= level]
    logs = (*LOG_FAMILIES, *(KMINION_LOG_FAMILIES if kminion else ())) if level is Level.PARTITION else ()
    admitted, admitted_logs, omitted = _admit(scrape, tables, len(logs), max_series)
    yield text_of(_omitted({each: count for each, count in omitted.items() if each <= level}), encode)
    for family in tables:
        groups = scrape.groups[: admitted[family.level]]
        rows = chain.from_iterable(map(family.values, groups))
        yield _text_of_rows(family, rows, encode)
    yield text_of(_rebalances(scrape.groups[: admitted[Level.GROUP]], scrape.rebalances), encode)
    for log_family in logs:
        ends = (((log.topic, str(log.partition)), log_family.value(log)) for log in scrape.logs[:admitted_logs])
        yield _text_of_rows(log_family, ends, encode)


def text_of(metric: Metric, encode: Encode) -> bytes:
    """Return the text of a family, without the end of the whole exposition."""
    return encode(_Single(metric)).removesuffix(EOF)


def _text_of_rows(family: _Family | _LogFamily, rows: Values, encode: Encode) -> bytes:
    labels = ",".join(f'{label}="%s"' for label in family.labels)
    line = f"{family.name}{{{labels}}} %s\n"
    lines = [line % (*map(_escaped, values), _number(value)) for values, value in rows if value is not None]
    return text_of(_gauge(family.name, family.help, family.labels), encode) + "".join(lines).encode()


@lru_cache(maxsize=100_000)
def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


class _Single:
    """A registry of one family."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family


def _of_polls(scrape: Scrape) -> Iterator[Metric]:
    build = _gauge("kgroups_build_info", "Version of kgroups and Python; always 1.", ("version", "python"))
    build.add_metric((__version__, platform.python_version()), 1)
    yield build
    yield _single(
        "kgroups_up", "Whether the last poll reached the cluster.", float(scrape.up) if scrape.scrapes else None
    )
    yield _single(
        "kgroups_scrape_duration_seconds", "Duration of the last poll.", scrape.seconds if scrape.scrapes else None
    )
    polls = CounterMetricFamily("kgroups_scrapes", "Polls of the cluster.")
    polls.add_metric((), scrape.scrapes)
    yield polls
    failures = CounterMetricFamily("kgroups_scrape_failures", "Failures of all polls, by scope.", labels=("scope",))
    for scope in Scope if scrape.scrapes else ():  # from 0, or increase() would miss the first failure
        failures.add_metric((scope.value,), scrape.failures.get(scope.value, 0))
    yield failures


def _omitted(omitted: Mapping[Level, int]) -> Metric:
    family = _gauge("kgroups_omitted_series", "Series omitted because of --max-series.", ("level",))
    for level, count in omitted.items():
        family.add_metric((level.name.lower(),), count)
    return family


def _rebalances(groups: Iterable[GroupSample], counts: Mapping[GroupId, int]) -> Metric:
    family = CounterMetricFamily(
        "kafka_consumergroup_rebalances", "Rebalances noticed between polls; a lower bound.", labels=_GROUP
    )
    for group in groups:
        if group.described:
            family.add_metric((group.name,), counts.get(group.name, 0))
    return family


def _admit(
    scrape: Scrape, tables: Iterable[_Family], log_families: int, most: int | None
) -> tuple[dict[Level, int], int, dict[Level, int]]:
    """Return for each level the number of groups that fit, the number of logs, and the series omitted."""
    count = len(scrape.groups)
    if most is None:
        return dict.fromkeys(Level, count), len(scrape.logs), dict.fromkeys(Level, 0)
    admitted, omitted, left = dict.fromkeys(Level, 0), dict.fromkeys(Level, 0), most
    logs = 0
    for level in Level:
        if level is Level.PARTITION and log_families:
            logs = min(len(scrape.logs), left // log_families)
            left -= logs * log_families
            omitted[level] += (len(scrape.logs) - logs) * log_families
        wanted = [family for family in tables if family.level is level]
        full = False
        for group in scrape.groups:
            size = sum(value is not None for family in wanted for _, value in family.values(group))
            size += int(level is Level.GROUP and group.described)  # rebalances
            full = full or size > left  # in the order of names, so that the same groups are left out at each poll
            if full:
                omitted[level] += size
            else:
                admitted[level] += 1
                left -= size
    return admitted, logs, omitted


_GROUP = ("consumergroup",)
_TOPIC = ("consumergroup", "topic")
_PARTITION = ("consumergroup", "topic", "partition")
_LOG = ("topic", "partition")


def _of_group(value: Callable[[GroupSample], float | None], *, always: bool = False) -> Callable[[GroupSample], Values]:
    return lambda group: [((group.name,), value(group))] if always or group.described else ()


def _of_partitions(
    value: Callable[[GroupSample, PartitionSample], float | None], method: bool = False
) -> Callable[[GroupSample], Values]:
    def values(group: GroupSample) -> Values:
        more = (group.method,) if method else ()
        for each in group.partitions:
            yield (group.name, each.topic, str(each.partition), *more), value(group, each)

    return values


def _of_topics(value: Callable[[PartitionSample], int | None]) -> Callable[[GroupSample], Values]:
    """Sum up the partitions of each topic; ``None`` if one is unknown."""

    def values(group: GroupSample) -> Values:
        for topic, some in groupby(sorted(group.partitions, key=attrgetter("topic")), attrgetter("topic")):
            found = [value(each) for each in some]
            known = [each for each in found if each is not None]
            yield (group.name, topic), sum(known) if len(known) == len(found) else None

    return values


def _states(group: GroupSample) -> Values:
    if group.described:
        for name in dict.fromkeys((*GroupState.ALL, group.state)):
            yield (group.name, name), float(name == group.state)


def _since(group: GroupSample, time: float | None) -> float | None:
    return None if time is None else max(0.0, group.polled_at - time)


GROUP_FAMILIES = (
    _Family(
        "kafka_consumergroup_stale",
        "1 if values of the group are those of an earlier poll, because a broker did not respond.",
        Level.GROUP,
        _GROUP,
        _of_group(lambda group: float(group.stale), always=True),
    ),
    _Family(
        "kafka_consumergroup_polled_timestamp_seconds",
        "Time of the last poll that described the group.",
        Level.GROUP,
        _GROUP,
        _of_group(lambda group: group.polled_at or None, always=True),
    ),
    _Family(
        "kafka_consumergroup_state",
        "1 for the state of the group, 0 for other states.",
        Level.GROUP,
        (*_GROUP, "state"),
        _states,
    ),
    _Family(
        "kafka_consumergroup_info",
        "Properties of the group as labels; always 1.",
        Level.GROUP,
        (*_GROUP, "type", "protocol", "coordinator"),
        lambda group: [((group.name, group.type, group.protocol, str(group.coordinator)), 1.0)] * group.described,
    ),
    _Family(
        "kafka_consumergroup_members",
        "Members of the group.",
        Level.GROUP,
        _GROUP,
        _of_group(lambda each: each.members),
    ),
    _Family(
        "kafka_consumergroup_total_lag",
        "Total lag; no sample if the lag of a partition is unknown.",
        Level.GROUP,
        _GROUP,
        _of_group(lambda each: each.total_lag),
    ),
    _Family(
        "kafka_consumergroup_known_lag_sum",
        "Total lag of the partitions where it is known.",
        Level.GROUP,
        _GROUP,
        _of_group(lambda each: each.known_lag),
    ),
    _Family(
        "kafka_consumergroup_unknown_partitions",
        "Partitions whose lag is unknown now; all, and at least 1, if the group could not be described.",
        Level.GROUP,
        _GROUP,
        _of_group(lambda each: each.unknown, always=True),
    ),
    _Family(
        "kafka_consumergroup_lag_seconds",
        "Age of the first unread record, by method; no sample if it is unknown for a partition.",
        Level.GROUP,
        (*_GROUP, "method"),
        lambda group: [((group.name, group.method), group.lag_seconds)],
    ),
    _Family(
        "kafka_consumergroup_lag_sum",
        "Lag of a topic; no sample if the lag of a partition is unknown.",
        Level.TOPIC,
        _TOPIC,
        _of_topics(lambda each: each.lag),
    ),
    _Family(
        "kafka_consumergroup_current_offset_sum",
        "Committed offsets of a topic, summed up.",
        Level.TOPIC,
        _TOPIC,
        _of_topics(lambda each: each.offset),
    ),
    _Family(
        "kafka_consumergroup_lag",
        "Records after the committed offset.",
        Level.PARTITION,
        _PARTITION,
        _of_partitions(lambda _, each: each.lag),
    ),
    _Family(
        "kafka_consumergroup_current_offset",
        "The committed offset.",
        Level.PARTITION,
        _PARTITION,
        _of_partitions(lambda _, each: each.offset),
    ),
    _Family(
        "kafka_consumergroup_partition_lag_seconds",
        "Age of the first unread record, by method.",
        Level.PARTITION,
        (*_PARTITION, "method"),
        _of_partitions(lambda group, each: _since(group, each.unread_since), method=True),
    ),
    _Family(
        "kafka_consumergroup_offset_unchanged_seconds",
        "Time without a change of the committed offset, since the first poll that saw it; a lower bound.",
        Level.PARTITION,
        _PARTITION,
        _of_partitions(lambda group, each: _since(group, each.unchanged_since)),
    ),
    _Family(
        "kafka_consumergroup_commit_age_seconds",
        "Age of the last commit, with --commit-age.",
        Level.PARTITION,
        _PARTITION,
        _of_partitions(lambda group, each: _since(group, each.committed_at)),
    ),
)
"""Families of groups; sums by topic, lags, committed offsets, and members are as in kafka_exporter."""

_K_TOPIC = ("group_id", "topic_name")
_K_PARTITION = ("group_id", "topic_name", "partition_id")


def _k_info(group: GroupSample) -> tuple[str, ...]:
    return group.name, group.protocol, group.protocol_type, group.state, str(group.coordinator)


KMINION_FAMILIES = (
    _Family(
        "kminion_kafka_consumer_group_info",
        "Properties of the group as labels; 1 if it is stable, otherwise 0.",
        Level.GROUP,
        ("group_id", "protocol", "protocol_type", "state", "coordinator_id"),
        lambda each: (
            [
                (
                    (each.name, each.protocol, each.protocol_type, each.state, str(each.coordinator)),
                    float(each.state == GroupState.STABLE),
                )
            ]
            * each.described
        ),
    ),
    _Family(
        "kminion_kafka_consumer_group_members",
        "Members of the group.",
        Level.GROUP,
        ("group_id",),
        _of_group(lambda each: each.members),
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_lag",
        "Lag of a topic.",
        Level.TOPIC,
        _K_TOPIC,
        _of_topics(lambda each: each.lag),
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_offset_sum",
        "Committed offsets of a topic, summed up.",
        Level.TOPIC,
        _K_TOPIC,
        _of_topics(lambda each: each.offset),
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_partition_lag",
        "Records after the committed offset.",
        Level.PARTITION,
        _K_PARTITION,
        _of_partitions(lambda _, each: each.lag),
    ),
)

LOG_FAMILIES = (
    _LogFamily("kafka_topic_partition_current_offset", "Log end offset.", _LOG, lambda log: log.end),
    _LogFamily(
        "kafka_topic_partition_oldest_offset", "Log start offset.", ("topic", "partition"), lambda log: log.start
    ),
)
KMINION_LOG_FAMILIES = (
    _LogFamily(
        "kminion_kafka_topic_partition_high_water_mark",
        "Log end offset.",
        ("topic_name", "partition_id"),
        lambda log: log.end,
    ),
    _LogFamily(
        "kminion_kafka_topic_partition_low_water_mark",
        "Log start offset.",
        ("topic_name", "partition_id"),
        lambda log: log.start,
    ),
)


def text_of_age(scrape: Scrape, now: float, encode: Encode) -> bytes:
    """Return the text of the family that changes between polls, with the end of the exposition."""
    age = None if scrape.reached_at is None else max(0.0, now - scrape.reached_at)
    return encode(
        _Single(
            _single("kgroups_data_age_seconds", "Time since the start of the last poll that reached the cluster.", age)
        )
    )


def _gauge(name: str, help: str, labels: tuple[str, ...] = ()) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help, labels=labels)


def _single(name: str, help: str, value: float | None) -> Metric:
    family = _gauge(name, help)
    if value is not None:
        family.add_metric((), value)
    return family
