"""Samples of groups: when they are taken, with which data, and which count."""

from __future__ import annotations

from typing import Any

import pytest

from kgroups.errors import UsageError
from kgroups.model.health.findings import Sample, Seen
from kgroups.model.health.limits import Limits
from kgroups.model.health.rules import Rule
from kgroups.model.health.sampling import Sampling
from kgroups.model.health.severity import Minimum, Severity, Threshold
from kgroups.model.outcome import Failure, Outcome, Scope
from tests.unit.model.health.test_judge import NOW, seen

AGE = Threshold(critical=5)


@pytest.mark.parametrize(
    ("limits", "rules", "wanted"),
    [
        (Limits(lag=AGE), (), [(0, False, False)]),
        (Limits(headroom=Minimum(1)), (), [(0, False, False, False, True)]),
        (Limits(offset_headroom=Minimum(1)), (), [(0, False, False, False, False, False, True)]),
        (Limits(headroom=Minimum(1), trend=True), (), [(0, False, True), (15,), (15, False, True, False, True)]),
        (Limits(time_lag=AGE), (), [(0, True, False)]),
        (Limits(commit_age=AGE), (), [(0, False, True)]),
        (Limits(), (Rule(("*",), Limits(time_lag=AGE, commit_age=AGE)),), [(0, True, True)]),
        (Limits(trend=True), (), [(0, False, True), (15, False, False), (15, False, True)]),
        (Limits(time_lag=AGE, trend=True), (), [(0, False, True), (15, False, False), (15, True, True)]),
        (
            Limits(commit_age=AGE),
            (Rule(("*",), Limits(trend=True)),),
            [(0, False, True), (15, False, False), (15, False, True)],
        ),
    ],
)
def test_sampling_reads_what_the_limits_need(
    limits: Limits, rules: tuple[Rule, ...], wanted: list[tuple[Any, ...]]
) -> None:
    assert list(Sampling(limits, rules, 30, 3).planned()) == [Sample(*each) for each in wanted]


def test_sampling_of_a_trend_needs_two_samples() -> None:
    assert [each.pause for each in Sampling(Limits(trend=True), (), 30, 2).planned()] == [0, 30]
    with pytest.raises(UsageError, match="at least two samples, not 1"):
        Sampling(Limits(trend=True), (), 30, 1)
    assert len(list(Sampling(Limits(), (), 30, 1).planned())) == 1


def named(name: str, look: Seen) -> Seen:
    offsets = look.offsets
    return look._replace(offsets=offsets._replace(group=offsets.group._replace(group_id=name)))


def test_sampling_reports_all_samples_of_remaining_groups() -> None:
    sampling = Sampling(Limits(trend=True), (Rule(("slow",), Limits(members=2)),), 30, 2)
    alone = {"a": (0,)}
    slow, gone = named("slow", seen({0: 10}, held=alone)), named("gone", seen({0: 10}))
    sampling.add(Outcome((slow, gone), (Failure(Scope.BROKER, "1", "x"),)))
    sampling.add(Outcome((named("slow", seen({0: 20}, {0: 120}, alone))._replace(now=NOW + 2_000),)))
    report = sampling.report(7)
    assert (report.at, {finding.group for finding in report.findings}) == (7, {"slow"})
    assert [(finding.check, finding.severity) for finding in report.bad] == [
        ("members", Severity.CRITICAL),
        ("trend", Severity.WARNING),
    ]
