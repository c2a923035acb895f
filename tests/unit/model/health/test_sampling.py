"""Samples of groups: when they are taken, with which data, and which count."""

from __future__ import annotations

from typing import Any

import pytest

from kgroups.errors import UsageError
from kgroups.model.health.findings import Sample, Seen
from kgroups.model.health.limits import Limits
from kgroups.model.health.rules import Rule
from kgroups.model.health.sampling import Answers, Sampling
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.severity import Minimum, Severity, Threshold
from kgroups.model.stays import Instances, SharedInstance
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
    expected = [Sample(*each) for each in wanted]
    about_records = any(
        each.lag or each.time_lag or each.headroom for each in (limits, *(each.limits for each in rules))
    )
    expected[-1] = expected[-1]._replace(with_epoch_ends=about_records)
    assert list(Sampling(limits, rules, 30, 3).planned()) == expected


def test_sampling_of_a_trend_needs_two_samples() -> None:
    assert [each.pause for each in Sampling(Limits(trend=True), (), 30, 2).planned()] == [0, 30]
    with pytest.raises(UsageError, match="at least two samples, not 1"):
        Sampling(Limits(trend=True), (), 30, 1)
    assert len(list(Sampling(Limits(), (), 30, 1).planned())) == 1


def named(name: str, look: Seen) -> Seen:
    offsets = look.offsets
    return look._replace(offsets=offsets._replace(group=offsets.group._replace(group=name)))


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


def static(name: str) -> Seen:
    """A group whose members have an instance ID."""
    look = named(name, seen())
    group = look.offsets.group
    members = tuple(member._replace(instance_id=f"pod-{at}") for at, member in enumerate(group.members or ()))
    return look._replace(offsets=look.offsets._replace(group=group._replace(members=members)))


@pytest.mark.parametrize("in_batches", [False, True])
def test_assigned_is_critical_if_two_clients_use_an_instance_id(in_batches: bool) -> None:
    sampling = Sampling(Limits(assigned=True), (), 0, 1)
    (sampling.judge if in_batches else sampling.add)(Outcome((static("a"), static("b"), static("c"), seen())))
    assert sampling.static() == {"a", "b", "c"}
    shared = SharedInstance("pod-0", ("podA@h", "podB@h"), 4, 1_000)
    sampling.learn(Answers(instances={"a": Instances((shared,)), "b": Instances((), "no ACL"), "c": Instances()}))
    found = {each.group: each for each in sampling.report(7).findings if each.check == "assigned"}
    assert found["a"].severity is Severity.CRITICAL and found["a"].message == str(shared)
    assert {found[name].severity for name in "bcg"} == {Severity.OK}
    assert found["b"].message == (
        "each of 2 partitions has one member; unknown whether clients share instance IDs: no ACL"
    )
    assert found["c"].message == found["g"].message == "each of 2 partitions has one member"
    assert not Sampling(Limits(members=2), (), 0, 1).static()
