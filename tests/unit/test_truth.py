"""The judge of output under faults finds false rows and silent omissions, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fakes.truth import Truth, judge, judge_rows, of_check, of_dropin_describe, of_json, of_watch

PAIR = ("t", 0)
TRUTH = Truth({"a": 1, "b": 2}, {"a": {PAIR: 5}, "b": {PAIR: 7}}, {PAIR: 10}, {PAIR: 1})
BOTH = {"a", "b"}


def envelope(view: str, items: list[Any], failures: tuple[Any, ...] = ()) -> str:
    return json.dumps({"schema": f"kgroups/{view}/v1", "items": items, "failures": list(failures)})


def row(group: str, committed: int | None, end: int | None) -> dict[str, Any]:
    lag = None if committed is None or end is None else end - committed
    place = {"topic": "t", "partition": 0}
    return {"group": group, **place, "current_offset": committed, "log_end_offset": end, "lag": lag}


def failure(scope: str, name: str) -> dict[str, Any]:
    return {"scope": scope, "name": name, "message": "no answer", "broker": None}


def test_judge_accepts_complete_answer() -> None:
    assert not judge(of_json(envelope("offsets", [row("a", 5, 10), row("b", 7, 10)]), ""), TRUTH, BOTH)


@pytest.mark.parametrize(
    "wrong",
    [
        [row("a", 6, 10), row("b", 7, 10)],
        [row("a", 5, 11), row("b", 7, 10)],
        [row("a", 5, 10), row("b", 7, 10), row("c", 1, 10)],
        [row("a", 5, 10) | {"partition": 1}, row("b", 7, 10)],
    ],
)
def test_judge_reports_false_rows(wrong: list[Any]) -> None:
    assert any(each.startswith("false: ") for each in judge(of_json(envelope("offsets", wrong), ""), TRUTH, BOTH))


def test_judge_reports_missing_group_unless_named() -> None:
    half = [row("a", 5, 10)]
    assert judge(of_json(envelope("offsets", half), ""), TRUTH, BOTH) == ["silent: group b is missing"]
    other = (failure("broker", "broker 1 (h:1)"), failure("group", "a"))
    assert judge(of_json(envelope("offsets", half, other), ""), TRUTH, BOTH) == ["silent: group b is missing"]
    for named in (failure("broker", "broker 2 (h:2)"), failure("group", "b"), failure("topic", "__consumer_offsets")):
        assert not judge(of_json(envelope("offsets", half, (named,)), ""), TRUTH, BOTH)
    assert not judge(of_json("", "kgroups: error: no bootstrap server responded"), TRUTH, BOTH)


def test_judge_reports_unknown_log_end_unless_named() -> None:
    rows = [row("a", 5, None), row("b", 7, 10)]
    assert judge(of_json(envelope("offsets", rows), ""), TRUTH, BOTH) == ["silent: a ('t', 0) is not reported"]
    assert not judge(of_json(envelope("offsets", rows, (failure("partition", "t-0"),)), ""), TRUTH, BOTH)


def test_judge_checks_totals() -> None:
    watched = {"group": "a", "total_lag": 4, "stale": False}, {"group": "b", "total_lag": None, "stale": False}
    line = json.dumps({"items": watched, "failures": []})
    assert judge(of_watch(line, ""), TRUTH, BOTH) == ["false: a: total lag 4, not 5"]
    ok = [{"group": name, "check": "lag", "status": "OK", "value": value} for name, value in (("a", 0), ("b", 3))]
    assert judge(of_check(json.dumps({"items": ok}), ""), TRUTH, BOTH) == ["false: a: total lag 0, not 5"]


def test_judge_reads_failures_of_drop_ins_from_stderr() -> None:
    out = "\nGROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID\na t 0 5 10 5 -\n"
    assert judge(of_dropin_describe(out, ""), TRUTH, BOTH) == ["silent: group b is missing"]
    assert not judge(of_dropin_describe(out, "Error: group 'b': no answer"), TRUTH, BOTH)


def test_judge_checks_results_of_writes() -> None:
    before, after, wished = {("a",): 1, ("b",): 1, ("c",): 1}, {("a",): 2, ("b",): 1, ("c",): 2}, {("a",): 2, ("b",): 2}
    results = [{"group": "a", "result": "applied"}, {"group": "b", "result": "unknown"}]
    assert judge_rows(results, before, after, wished, "group") == ["silent: ('c',) was 1 and is 2, and no row says so"]
    for group, result in (("a", "failed"), ("b", "applied")):
        answer = [{"group": group, "result": result}, {"group": "c", "result": "unknown"}]
        (wrong, *_) = judge_rows(answer, before, after, {**wished, ("c",): 2}, "group")
        assert wrong.startswith(f"false: ('{group}',) is {result}")
