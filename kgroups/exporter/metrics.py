"""Convert samples of groups to Prometheus metrics. Only this module and the exporter command import the client library.

Names and labels of ``kafka_*`` are those of kafka_exporter, and of ``kminion_*`` those of kminion; Grafana's fork of
kafka_exporter has two more. Unknown values have
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
from kgroups.version import __version__
from kgroups.watch.state.group_samples import GroupSample, LogSample, PartitionSample

Encode = Callable[[Any], bytes]
_go_number: Callable[[float], str] = floatToGoString
EOF = b"# EOF\n"
"""The end of an exposition in OpenMetrics."""

Values = Iterable[float | None]

KAFKA_EXPORTER, KMINION, GRAFANA = "kafka_exporter", "kminion", "grafana"
"""Values of ``--compat``; the last one is Grafana's fork of kafka_exporter."""


class Level(IntEnum):
    """The granularity of a metric."""

    GROUP = 1
    TOPIC = 2
    PARTITION = 3


class Scrape(NamedTuple):
    """The result of one poll of the cluster; times in seconds since 1970.

    :ivar failures: number of failures of all polls so far, by scope.
    :ivar rebalances: by group, since the first poll.
    :ivar hidden: what ACLs may hide from the last poll: ``groups``, ``offsets``.
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
    hidden: frozenset[str] = frozenset()


class _Series(NamedTuple):
    """The labels of a family: their names, and their values in each series of a group."""

    level: Level
    labels: tuple[str, ...]
    values: Callable[[GroupSample], Iterable[tuple[str, ...]]]


class _Family(NamedTuple):
    """A family of groups. ``values`` has one for each series of the group, ``None`` where it is unknown."""

    name: str
    help: str
    series: _Series
    values: Callable[[GroupSample], Values]

    @property
    def level(self) -> Level:
        return self.series.level


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
    compat: str = KAFKA_EXPORTER,
    max_series: int | None = None,
) -> Iterator[bytes]:
    """Yield the text of each metric family.

    Families of groups and logs are written here: as samples of the client library, they take ten times as long.

    :param encode: an encoder of the client library; formats differ in the header of a family, not in its gauges.
    :param level: the most detailed level to export.
    :param compat: the exporter whose names are yielded, too.
    :param max_series: maximum number of series of groups and logs. Group series take precedence over topic series,
        those over log and partition series, and groups are taken in the order of their names.
    """
    for metric in _of_polls(scrape):
        yield text_of(metric, encode)
    if compat == KMINION:
        up = float(scrape.up) if scrape.scrapes else None
        yield text_of(_single("kminion_exporter_up", "Whether the last poll reached the cluster.", up), encode)
    tables = [each for each in (*GROUP_FAMILIES, *COMPAT_FAMILIES[compat]) if each.level <= level]
    logs = (*LOG_FAMILIES, *(KMINION_LOG_FAMILIES if compat == KMINION else ())) if level is Level.PARTITION else ()
    admitted, admitted_logs, omitted = _admit(scrape, tables, len(logs), max_series)
    yield text_of(_omitted({each: count for each, count in omitted.items() if each <= level}), encode)
    for series, families in groupby(tables, attrgetter("series")):
        groups = scrape.groups[: admitted[series.level]]
        labels = _label_texts(series.labels, chain.from_iterable(map(series.values, groups)))
        for family in families:
            yield _text_of_rows(family, series.labels, labels, chain.from_iterable(map(family.values, groups)), encode)
    yield _rebalances(scrape.groups[: admitted[Level.GROUP]], scrape.rebalances, encode)
    for log_family in logs:
        ends = scrape.logs[:admitted_logs]
        labels = _label_texts(log_family.labels, ((log.topic, str(log.partition)) for log in ends))
        yield _text_of_rows(log_family, log_family.labels, labels, map(log_family.value, ends), encode)


def text_of(metric: Metric, encode: Encode) -> bytes:
    """Return the text of a family, without the end of the whole exposition."""
    return encode(_Single(metric)).removesuffix(EOF)


def _label_texts(names: tuple[str, ...], series: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the labels of each series as text, which all families with the same series share."""
    text = "{" + ",".join(f'{name}="%s"' for name in names) + "}"
    return [text % tuple(map(escape_label, values)) for values in series]


def _text_of_rows(
    family: _Family | _LogFamily, names: tuple[str, ...], labels: Iterable[str], values: Values, encode: Encode
) -> bytes:
    return text_of(_gauge(family.name, family.help, names), encode) + _lines(family.name, labels, values)


def _lines(name: str, labels: Iterable[str], values: Values) -> bytes:
    pairs = zip(labels, values, strict=True)
    return "".join([f"{name}{each} {_number(value)}\n" for each, value in pairs if value is not None]).encode()


def _number(value: float) -> str:
    """Return a number as the client library writes it, but small ones without its detours, a third of the time."""
    return repr(float(value)) if -1_000_000 < value < 1_000_000 else _go_number(value)


@lru_cache(maxsize=100_000)
def escape_label(value: str) -> str:
    """Return the value of a label as it stands between quotation marks."""
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
    family = _gauge("kgroups_hidden", "Whether ACLs hide, or may hide, groups or committed offsets.", ("what",))
    for what in () if scrape.reached_at is None else ("groups", "offsets"):
        family.add_metric((what,), what in scrape.hidden)
    yield family


def _omitted(omitted: Mapping[Level, int]) -> Metric:
    family = _gauge("kgroups_omitted_series", "Series omitted because of --max-series.", ("level",))
    for level, count in omitted.items():
        family.add_metric((level.name.lower(),), count)
    return family


def _rebalances(groups: Iterable[GroupSample], counts: Mapping[GroupId, int], encode: Encode) -> bytes:
    family = CounterMetricFamily(
        "kafka_consumergroup_rebalances", "Rebalances noticed between polls; a lower bound.", labels=_GROUP.labels
    )
    names = [group.name for group in groups if group.described]
    labels = _label_texts(_GROUP.labels, ((name,) for name in names))
    return text_of(family, encode) + _lines(f"{family.name}_total", labels, (counts.get(name, 0) for name in names))


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
            size = sum(value is not None for family in wanted for value in family.values(group))
            size += int(level is Level.GROUP and group.described)  # rebalances
            full = full or size > left  # in the order of names, so that the same groups are left out at each poll
            if full:
                omitted[level] += size
            else:
                admitted[level] += 1
                left -= size
    return admitted, logs, omitted


def _groups(label: str) -> _Series:
    return _Series(Level.GROUP, (label,), lambda group: [(group.name,)])


def _states(group: GroupSample) -> Iterable[str]:
    return dict.fromkeys((*GroupState.ALL, group.state)) if group.described else ()


def _topics(*labels: str) -> _Series:
    def values(group: GroupSample) -> Iterator[tuple[str, ...]]:
        for topic in sorted({each.topic for each in group.partitions}):
            yield group.name, topic

    return _Series(Level.TOPIC, labels, values)


def _partitions(*labels: str) -> _Series:
    def values(group: GroupSample) -> Iterator[tuple[str, ...]]:
        more = (group.method,) if "method" in labels else ()
        for each in group.partitions:
            yield group.name, each.topic, str(each.partition), *more

    return _Series(Level.PARTITION, labels, values)


_GROUP = _groups("consumergroup")
_STATE = _Series(
    Level.GROUP, ("consumergroup", "state"), lambda group: [(group.name, state) for state in _states(group)]
)
_INFO = _Series(
    Level.GROUP,
    ("consumergroup", "type", "protocol", "coordinator"),
    lambda group: [(group.name, group.type, group.protocol, str(group.coordinator))] * group.described,
)
_STATUS = _Series(
    Level.GROUP,
    ("consumergroup", "status", "severity"),
    lambda group: [(group.name, group.status, group.status.severity.name)],
)
_GROUP_BY_METHOD = _Series(Level.GROUP, ("consumergroup", "method"), lambda group: [(group.name, group.method)])
_TOPIC = _topics("consumergroup", "topic")
_PARTITION = _partitions("consumergroup", "topic", "partition")
_PARTITION_BY_METHOD = _partitions("consumergroup", "topic", "partition", "method")
_LOG = ("topic", "partition")


def _of_group(value: Callable[[GroupSample], float | None], *, always: bool = False) -> Callable[[GroupSample], Values]:
    return lambda group: [value(group) if always or group.described else None]


def _of_partitions(value: Callable[[PartitionSample], float | None]) -> Callable[[GroupSample], Values]:
    return lambda group: [value(each) for each in group.partitions]


def _since(time: Callable[[PartitionSample], float | None]) -> Callable[[GroupSample], Values]:
    """Return the seconds between a time of each partition and the poll."""

    def values(group: GroupSample) -> Values:
        now = group.polled_at
        return [None if (at := time(each)) is None else max(0.0, now - at) for each in group.partitions]

    return values


def _since_in_milliseconds(time: Callable[[PartitionSample], float | None]) -> Callable[[GroupSample], Values]:
    seconds = _since(time)
    return lambda group: [None if each is None else each * 1000 for each in seconds(group)]


def _unread(each: PartitionSample) -> int | None:
    return None if each.lag is None else max(0, each.lag)


def _of_topics(
    value: Callable[[PartitionSample], int | None], *, whole: bool = False
) -> Callable[[GroupSample], Values]:
    """Sum up the partitions of each topic; ``None`` if one is unknown.

    :param whole: whether a partition without a committed offset is unknown, too.
    """

    def values(group: GroupSample) -> Values:
        sums: dict[str, int | None] = dict.fromkeys(group.uncommitted) if whole else {}
        for each in group.partitions:
            total, more = sums.get(each.topic, 0), value(each)
            sums[each.topic] = None if total is None or more is None else total + more
        return [sums[topic] for topic in sorted({each.topic for each in group.partitions})]

    return values


GROUP_FAMILIES = (
    _Family(
        "kafka_consumergroup_stale",
        "1 if values of the group are those of an earlier poll, because a broker did not respond.",
        _GROUP,
        _of_group(lambda group: float(group.stale), always=True),
    ),
    _Family(
        "kafka_consumergroup_polled_timestamp_seconds",
        "Time of the last poll that described the group.",
        _GROUP,
        _of_group(lambda group: group.polled_at or None, always=True),
    ),
    _Family(
        "kafka_consumergroup_state",
        "1 for the state of the group, 0 for other states.",
        _STATE,
        lambda group: [float(name == group.state) for name in _states(group)],
    ),
    _Family(
        "kafka_consumergroup_info",
        "Properties of the group as labels; always 1.",
        _INFO,
        lambda group: [1.0] * group.described,
    ),
    _Family(
        "kafka_consumergroup_status",
        "1 for the status of the group in the last poll; no sample for other statuses.",
        _STATUS,
        lambda _: [1.0],
    ),
    _Family(
        "kafka_consumergroup_members",
        "Members of the group.",
        _GROUP,
        _of_group(lambda each: each.members),
    ),
    _Family(
        "kafka_consumergroup_total_lag",
        "Total lag; no sample if the lag of a partition is unknown.",
        _GROUP,
        _of_group(lambda each: each.total_lag),
    ),
    _Family(
        "kafka_consumergroup_known_lag",
        "Total lag of the partitions where it is known.",
        _GROUP,
        _of_group(lambda each: each.known_lag),
    ),
    _Family(
        "kafka_consumergroup_known_lag_sum",
        "Deprecated: kafka_consumergroup_known_lag.",
        _GROUP,
        _of_group(lambda each: each.known_lag),
    ),
    _Family(
        "kafka_consumergroup_unknown_partitions",
        "Partitions whose lag is unknown now; all, and at least 1, if the group could not be described.",
        _GROUP,
        _of_group(lambda each: each.unknown, always=True),
    ),
    _Family(
        "kafka_consumergroup_ahead_partitions",
        "Partitions with a committed offset beyond the end of the log; their lag is below 0, and 0 in sums.",
        _GROUP,
        _of_group(lambda each: each.ahead),
    ),
    _Family(
        "kafka_consumergroup_epoch_ahead_partitions",
        "Partitions with a commit of a later leader epoch than theirs, so of another log; no sample if unknown.",
        _GROUP,
        _of_group(lambda each: each.epoch_ahead),
    ),
    _Family(
        "kafka_consumergroup_unsubscribed_partitions",
        "Partitions with a committed offset of topics that no member subscribes to; no other sum includes them.",
        _GROUP,
        _of_group(lambda each: each.left),
    ),
    _Family(
        "kafka_consumergroup_unsubscribed_lag",
        "Unread records on topics with a committed offset that no member subscribes to; no sample if unknown.",
        _GROUP,
        _of_group(lambda each: each.left_lag),
    ),
    _Family(
        "kafka_consumergroup_pending_partitions",
        "Partitions with an offset in an open transaction; no sample if unknown (brokers before Kafka 2.5).",
        _GROUP,
        _of_group(lambda each: each.pending),
    ),
    _Family(
        "kafka_consumergroup_unread_min",
        "Unread records without transaction markers, with --exact: at least this many; no sample if unknown.",
        _GROUP,
        _of_group(lambda each: each.unread.least),
    ),
    _Family(
        "kafka_consumergroup_unread_max",
        "Unread records, with --exact: at most this many; the same if all were counted.",
        _GROUP,
        _of_group(lambda each: each.unread.most),
    ),
    _Family(
        "kafka_consumergroup_headroom_seconds",
        "Time until the first unread record can be deleted, with --headroom; no sample without a limit, or if unknown.",
        _GROUP,
        _of_group(lambda each: each.headroom),
    ),
    _Family(
        "kafka_consumergroup_lag_seconds",
        "Age of the first unread record, by method; no sample if it is unknown for a partition.",
        _GROUP_BY_METHOD,
        lambda group: [group.lag_seconds],
    ),
    _Family(
        "kafka_consumergroup_lag_sum",
        "Lag of a topic; no sample if the lag of a partition is unknown.",
        _TOPIC,
        _of_topics(_unread, whole=True),
    ),
    _Family(
        "kafka_consumergroup_current_offset_sum",
        "Committed offsets of a topic, summed up.",
        _TOPIC,
        _of_topics(lambda each: each.offset),
    ),
    _Family(
        "kafka_consumergroup_lag",
        "Records after the committed offset.",
        _PARTITION,
        _of_partitions(lambda each: each.lag),
    ),
    _Family(
        "kafka_consumergroup_current_offset",
        "The committed offset.",
        _PARTITION,
        _of_partitions(lambda each: each.offset),
    ),
    _Family(
        "kafka_consumergroup_partition_lag_seconds",
        "Age of the first unread record, by method.",
        _PARTITION_BY_METHOD,
        _since(lambda each: each.unread_since),
    ),
    _Family(
        "kafka_consumergroup_offset_unchanged_seconds",
        "Time without a change of the committed or start offset, since the first poll that saw it; a lower bound.",
        _PARTITION,
        _since(lambda each: each.unchanged_since),
    ),
    _Family(
        "kafka_consumergroup_commit_age_seconds",
        "Age of the last commit, with --commit-age.",
        _PARTITION,
        _since(lambda each: each.committed_at),
    ),
    _Family(
        "kafka_consumergroup_partition_unread_min",
        "Unread records without transaction markers, with --exact: at least this many.",
        _PARTITION,
        _of_partitions(lambda each: each.unread.least),
    ),
    _Family(
        "kafka_consumergroup_partition_unread_max",
        "Unread records, with --exact: at most this many.",
        _PARTITION,
        _of_partitions(lambda each: each.unread.most),
    ),
    _Family(
        "kafka_consumergroup_partition_headroom_seconds",
        "Time until the first unread record can be deleted, with --headroom.",
        _PARTITION,
        _of_partitions(lambda each: each.headroom),
    ),
)
"""Families of groups; sums by topic, lags, committed offsets, and members are as in kafka_exporter."""

_K_GROUP = _groups("group_id")
_K_TOPIC = _topics("group_id", "topic_name")
_K_PARTITION = _partitions("group_id", "topic_name", "partition_id")
_K_INFO = _Series(
    Level.GROUP,
    ("group_id", "protocol", "protocol_type", "state", "coordinator_id"),
    lambda group: (
        [(group.name, group.protocol, group.protocol_type, group.state, str(group.coordinator))] * group.described
    ),
)

_K_ASSIGNED = _Series(
    Level.TOPIC, ("group_id", "topic_name"), lambda group: [(group.name, topic) for topic in group.assigned or ()]
)

KMINION_FAMILIES = (
    _Family(
        "kminion_kafka_consumer_group_info",
        "Properties of the group as labels; 1 if it is stable, otherwise 0.",
        _K_INFO,
        lambda group: [float(group.state == GroupState.STABLE)] * group.described,
    ),
    _Family(
        "kminion_kafka_consumer_group_members",
        "Members of the group.",
        _K_GROUP,
        _of_group(lambda each: each.members),
    ),
    _Family(
        "kminion_kafka_consumer_group_empty_members",
        "Members without a partition.",
        _K_GROUP,
        _of_group(lambda each: each.idle),
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_members",
        "Members that have partitions of a topic.",
        _K_ASSIGNED,
        lambda group: [each.members for each in (group.assigned or {}).values()],
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_assigned_partitions",
        "Partitions of a topic that members have.",
        _K_ASSIGNED,
        lambda group: [each.partitions for each in (group.assigned or {}).values()],
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_lag",
        "Lag of a topic.",
        _K_TOPIC,
        _of_topics(_unread, whole=True),
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_offset_sum",
        "Committed offsets of a topic, summed up.",
        _K_TOPIC,
        _of_topics(lambda each: each.offset),
    ),
    _Family(
        "kminion_kafka_consumer_group_topic_partition_lag",
        "Records after the committed offset.",
        _K_PARTITION,
        _of_partitions(lambda each: each.lag),
    ),
)

GRAFANA_FAMILIES = (
    _Family(
        "kafka_consumergroup_uncommitted_offsets_sum",
        "Lag of a topic; no sample if the lag of a partition is unknown.",
        _TOPIC,
        _of_topics(_unread, whole=True),
    ),
    _Family(
        "kafka_consumergroup_uncommitted_offsets",
        "Records after the committed offset.",
        _PARTITION,
        _of_partitions(lambda each: each.lag),
    ),
    _Family(
        "kafka_consumer_lag_millis",
        "Age of the first unread record in milliseconds.",
        _PARTITION,
        _since_in_milliseconds(lambda each: each.unread_since),
    ),
)
COMPAT_FAMILIES = {KAFKA_EXPORTER: (), KMINION: KMINION_FAMILIES, GRAFANA: GRAFANA_FAMILIES}

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
    help = "Time since the start of the last poll that reached the cluster."
    return encode(_Single(_single("kgroups_data_age_seconds", help, age)))


def _gauge(name: str, help: str, labels: tuple[str, ...] = ()) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help, labels=labels)


def _single(name: str, help: str, value: float | None) -> Metric:
    family = _gauge(name, help)
    if value is not None:
        family.add_metric((), value)
    return family
