"""What is true of a cluster, as a second client knows it, and what a command's answer makes of it.

An answer may lack rows, but then it must name what is missing; a row that is there must be right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Row = dict[str, Any]
Pair = tuple[str, int]

_FATAL = re.compile(r"^(?:kgroups: error|Error): ", re.MULTILINE)
_BROKER = re.compile(r"broker (\d+) \(")


@dataclass(frozen=True)
class Truth:
    coordinators: Mapping[str, int]
    """Group -> broker; every group of the cluster."""
    commits: Mapping[str, Mapping[Pair, int]]
    """Group -> its committed offset on every partition that it reads."""
    ends: Mapping[Pair, int]
    """Log end offsets."""
    leaders: Mapping[Pair, int]
    moves: Mapping[str, Collection[int]] = field(default_factory=dict)
    """Group -> other brokers that may coordinate it during the command."""

    @property
    def groups(self) -> set[str]:
        return set(self.coordinators)

    def lag(self, group: str) -> int:
        return sum(self.ends[pair] - offset for pair, offset in self.commits[group].items())

    def off(self, broker: int) -> set[str]:
        """The groups of other brokers."""
        return {group for group, where in self.coordinators.items() if where != broker}


class Offset(NamedTuple):
    """A row of a group's partition; None is a value reported as unknown."""

    committed: int | None
    end: int | None
    lag: int | None


class Total(NamedTuple):
    """A group's total lag. ``marked``: reported as partial or as not current."""

    lag: float | None
    marked: bool


@dataclass
class Reported:
    """The content of a command's output, independent of its format."""

    groups: set[str] = field(default_factory=set)
    offsets: dict[tuple[str, Pair], Offset] | None = None
    totals: dict[str, Total] | None = None
    failures: list[Row] = field(default_factory=list)
    err: str = ""

    def names(self, group: str, coordinator: int) -> bool:
        """Whether it says that this group is missing: by its name, its broker, or its partition of the offsets topic,
        or because nothing could be answered."""
        if _FATAL.search(self.err):
            return True
        for failure in self.failures:
            if failure["scope"] == "group" and failure["name"] == group:
                return True
            if failure["scope"] == "broker" and failure["name"].startswith(f"broker {coordinator} ("):
                return True
            if failure["name"] == "__consumer_offsets" or failure["scope"] == "cluster":
                return True
        return not self.failures and self._err_names(group, coordinator)

    def _err_names(self, group: str, coordinator: int) -> bool:
        """The same of a format that has no failures: stderr shortens long lists of names."""
        for line in self.err.splitlines():
            if re.search(rf"\b{re.escape(group)}\b", line) or "__consumer_offsets" in line:
                return True
            if f"broker {coordinator} (" in line or (f"broker {coordinator}]" in line and "…" in line):
                return True
        return False

    @property
    def brokers(self) -> set[int]:
        """The brokers that it blames."""
        texts = [self.err, *(f"{failure['name']} {failure['message']}" for failure in self.failures)]
        found = {int(number) for text in texts for number in _BROKER.findall(text)}
        return found | {failure["broker"] for failure in self.failures if failure.get("broker") is not None}


def judge(printed: Reported, truth: Truth, wanted: Collection[str]) -> list[str]:
    """Return the errors of an output about these groups: false rows, and silent omissions."""
    return [*_false(printed, truth, wanted), *_silent(printed, truth, wanted)]


def _false(printed: Reported, truth: Truth, wanted: Collection[str]) -> Iterator[str]:
    for group in sorted(printed.groups - set(wanted)):
        yield f"false: group {group}, which is not there"
    for (group, pair), row in (printed.offsets or {}).items():
        committed, end = truth.commits.get(group, {}).get(pair), truth.ends.get(pair)
        if committed is None or end is None:
            yield f"false: {group} {pair}, which is not there"
            continue
        expected = Offset(committed, end, end - committed)
        for name, is_, was in zip(Offset._fields, expected, row, strict=True):
            if was is not None and was != is_:
                yield f"false: {group} {pair}: {name} {was}, not {is_}"
    for group, total in (printed.totals or {}).items():
        if total.lag is not None and not total.marked and group in truth.groups and total.lag != truth.lag(group):
            yield f"false: {group}: total lag {total.lag}, not {truth.lag(group)}"


def _silent(printed: Reported, truth: Truth, wanted: Collection[str]) -> Iterator[str]:
    for group in sorted(set(wanted) - printed.groups):
        coordinators = truth.coordinators[group], *truth.moves.get(group, ())
        if not any(printed.names(group, coordinator) for coordinator in coordinators):
            yield f"silent: group {group} is missing"
    if printed.offsets is not None:
        for group in sorted(printed.groups & set(wanted)):
            for pair in truth.commits[group]:
                row = printed.offsets.get((group, pair))
                if (row is None or None in row) and not (printed.failures or printed.err):
                    yield f"silent: {group} {pair} is not reported"


# How answers are read.


def of_json(out: str, err: str) -> Reported:
    """``-o json`` of list, describe, explain and lag. Nothing on stdout is an answer that failed whole."""
    if not out:
        return Reported(err=err)
    envelope = json.loads(out)
    answer = Reported({item["group"] for item in envelope["items"]}, failures=envelope["failures"], err=err)
    if envelope["schema"].startswith("kgroups/offsets/"):
        answer.offsets = {
            (row["group"], (row["topic"], row["partition"])): Offset(
                row["current_offset"], row["log_end_offset"], row["lag"]
            )
            for row in envelope["items"]
            if row["topic"] is not None
        }
    if envelope["schema"].startswith("kgroups/lag/"):
        answer.totals = {row["group"]: Total(row["total_lag"], bool(row["unknown"])) for row in envelope["items"]}
    return answer


def of_watch(out: str, err: str) -> Reported:
    """The last of its lines."""
    lines = out.splitlines()
    if not lines:
        return Reported(err=err)
    last = json.loads(lines[-1])
    answer = Reported({item["group"] for item in last["items"]}, failures=last["failures"], err=err)
    answer.totals = {
        item["group"]: Total(item["total_lag"], item["stale"] or bool(item.get("unknown"))) for item in last["items"]
    }
    return answer


def of_check(out: str, err: str) -> Reported:
    """Read ``check --max-lag -o json``: an OK result is a row, an UNKNOWN result is a failure."""
    if not out:
        return Reported(err=err)
    items = json.loads(out)["items"]
    lags = [item for item in items if item["check"] == "lag"]
    answer = Reported({item["group"] for item in lags}, err=err)
    answer.totals = {item["group"]: Total(item["value"], item["status"] == "UNKNOWN") for item in lags}
    answer.failures = [_failure_of(item) for item in items if item["status"] == "UNKNOWN"]
    return answer


def _failure_of(item: Row) -> Row:
    """As other formats have it."""
    failure = {"scope": "group", "name": item["group"], "message": item["message"]}
    if item["group"] is None:
        scope, _, rest = item["message"].removeprefix("broker broker").partition(" ")
        failure |= {"scope": scope, "name": rest}
        if found := _BROKER.search(item["message"]):
            failure |= {"scope": "broker", "name": f"broker {found[1]} ("}
        elif "__consumer_offsets" in item["message"]:
            failure |= {"name": "__consumer_offsets"}
        elif "no bootstrap server" in item["message"]:
            failure |= {"scope": "cluster"}
    return failure


def of_metrics(out: str, err: str = "") -> Reported:
    """Read one scrape of the exporter."""
    from prometheus_client.parser import text_string_to_metric_families

    samples = [sample for family in text_string_to_metric_families(out) for sample in family.samples]
    answer = Reported(err=err, offsets={}, totals={})
    assert answer.offsets is not None and answer.totals is not None
    committed, lags, unknown = {}, {}, set()
    for sample in samples:
        group = sample.labels.get("consumergroup")
        key = (group, (sample.labels.get("topic"), int(sample.labels.get("partition", -1))))
        if sample.name == "kafka_consumergroup_info":
            answer.groups.add(group)
        elif sample.name == "kafka_consumergroup_current_offset":
            committed[key] = int(sample.value)
        elif sample.name == "kafka_consumergroup_lag":
            lags[key] = int(sample.value)
        elif "unknown" in sample.name and sample.value and group:
            unknown.add(group)
        elif sample.name == "kafka_consumergroup_total_lag":
            answer.totals[group] = Total(int(sample.value), False)
        elif sample.name == "kgroups_scrape_failures_total" and sample.value:
            answer.failures.append({"scope": "cluster", "name": sample.labels["scope"], "message": "", "broker": None})
        elif sample.name == "kgroups_up" and not sample.value:
            answer.failures.append({"scope": "cluster", "name": "up", "message": "", "broker": None})
    for key in committed.keys() | lags.keys():
        offset, lag = committed.get(key), lags.get(key)
        end = None if offset is None or lag is None else offset + lag  # which it does not report itself
        answer.offsets[key] = Offset(offset, end, lag)
    answer.totals = {group: Total(total.lag, group in unknown) for group, total in answer.totals.items()}
    return answer


def of_dropin_list(out: str, err: str) -> Reported:
    """``kafka-consumer-groups --list``, which prints errors among the names, as Kafka's tool does."""
    return Reported({line for line in out.splitlines() if line and not line.startswith("Error: ")}, err=err)


def of_dropin_describe(out: str, err: str) -> Reported:
    """``kafka-consumer-groups --describe``; none of the groups' and topics' names has a blank in it."""
    answer = Reported(err=err, offsets={})
    assert answer.offsets is not None
    for line in out.splitlines():
        cells = line.split()
        if len(cells) >= 6 and cells[0] != "GROUP" and cells[2].isdigit():
            group, topic, partition, *numbers = cells
            committed, end, lag = (int(text) if text.lstrip("-").isdigit() else None for text in numbers[:3])
            answer.groups.add(group)
            answer.offsets[group, (topic, int(partition))] = Offset(committed, end, lag)
    return answer


# Writes.


def judge_rows(
    rows: Iterable[Row], before: Mapping[Any, Any], after: Mapping[Any, Any], wished: Mapping[Any, Any], *key: str
) -> list[str]:
    """Compare each row of a result with what a second client read before and after.

    :param wished: what each key is to become; a key that is not there is to go.
    :param key: the fields of a row that make its key.
    """
    wrong, seen = [], {}
    for row in rows:
        name = tuple(row[field] for field in key)
        seen[name] = row["result"]
        old, new, now = before.get(name), wished.get(name), after.get(name)
        allowed = {"applied": [new], "failed": [old], "unknown": [old, new]}[row["result"]]
        if now not in allowed:
            wrong.append(f"false: {name} is {row['result']}, and now {now}; it was {old}, to become {new}")
    for name in before.keys() | after.keys():
        if name not in seen and before.get(name) != after.get(name):
            wrong.append(f"silent: {name} was {before.get(name)} and is {after.get(name)}, and no row says so")
    return wrong
