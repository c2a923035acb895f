"""Rules about share groups: how often records were delivered again, and the time since the last progress."""

from __future__ import annotations

import pytest

from kgroups.model.cluster import Node
from kgroups.model.effective_setting import Effective
from kgroups.model.groups import Group, GroupType
from kgroups.model.health.findings import Finding, Seen
from kgroups.model.health.judge import judge
from kgroups.model.health.limits import Limits
from kgroups.model.health.rules import parse_rules
from kgroups.model.health.sampling import Sampling
from kgroups.model.offsets import GroupCommits, LogOffsets, Logs
from kgroups.model.severity import Severity, Threshold
from kgroups.model.share.batches import StateBatch
from kgroups.model.share.partition import ShareFacts, SharePartition, ShareSettings
from kgroups.model.share.state import Between, ShareState
from kgroups.model.views.offset_row import GroupOffsets

NOW = 1_000_000
SETTINGS = ShareSettings(*(Effective(name) for name in "abc"))
REDELIVERIES = Limits(redeliveries=Threshold(1, 3))
AGE = Limits(progress_age=Threshold(1_000, 60_000))


def partition(
    number: int = 0, *batches: StateBatch, progress: tuple[int, int] = (0, 0), unknown: str | None = None
) -> SharePartition:
    """``progress``: this long ago, at least and at most."""
    between = Between(NOW - progress[1], NOW - progress[0])
    state = None if unknown else ShareState(1, 2, 3, 5, batches, between, 0)
    return SharePartition("t", number, LogOffsets(0, 20), state, unknown)


def check(limits: Limits, *partitions: SharePartition, group_type: str = GroupType.SHARE) -> Finding:
    group = Group("s", group_type, "Stable", "share", "simple", Node(0, "h", 1), ())
    share = ShareFacts(partitions, SETTINGS, NOW) if group_type == GroupType.SHARE else None
    seen = Seen(GroupOffsets(group, GroupCommits("s", {}), Logs()), NOW, share=share)
    _, found = judge([seen], limits)
    return found


@pytest.mark.parametrize(
    ("deliveries", "severity", "message"),
    [
        (1, Severity.OK, "t-1: redeliveries 0"),
        (2, Severity.OK, "t-1: redeliveries 1"),
        (3, Severity.WARNING, "t-1: redeliveries 2 is above 1"),
        (5, Severity.CRITICAL, "t-1: redeliveries 4 is above 3"),
    ],
)
def test_redeliveries_are_those_of_unfinished_records(deliveries: int, severity: Severity, message: str) -> None:
    finished = partition(0, StateBatch(6, 6, 2, 9), StateBatch(7, 7, 4, 9))
    found = check(REDELIVERIES, partition(1, StateBatch(8, 8, 0, deliveries)), finished)
    assert (found.check, found.severity, found.message) == ("redeliveries", severity, message)
    assert found.value == deliveries - 1


def test_unknown_state_makes_a_verdict_unknown_unless_it_is_critical() -> None:
    unknown = partition(1, unknown="no ACL")
    found = check(REDELIVERIES, partition(0, StateBatch(8, 8, 0, 2)), unknown)
    assert (found.severity, found.message) == (
        Severity.UNKNOWN,
        "t-0: redeliveries 1, unknown on 1 partition: no ACL",
    )
    assert check(REDELIVERIES, partition(0, StateBatch(8, 8, 0, 9)), unknown).severity is Severity.CRITICAL
    assert check(AGE, unknown).severity is Severity.UNKNOWN


@pytest.mark.parametrize(
    ("progress", "severity", "message"),
    [
        ((1_000, 1_000), Severity.OK, "t-0: progress age 1s"),
        ((1_001, 1_001), Severity.WARNING, "t-0: progress age 1s is above 1s"),
        ((60_001, 90_000), Severity.CRITICAL, "t-0: progress age 1m is above 1m"),
        (
            (500, 90_000),
            Severity.UNKNOWN,
            "progress age unknown on 1 partition: the last progress was between 1970-01-01T00:15:10.000Z and "
            "1970-01-01T00:16:39.500Z",
        ),
    ],
)
def test_progress_age_is_judged_if_every_possible_time_has_the_same_verdict(
    progress: tuple[int, int], severity: Severity, message: str
) -> None:
    found = check(AGE, partition(progress=progress))
    assert (found.check, found.severity, found.message) == ("progress-age", severity, message)


def test_partition_without_unfinished_records_makes_no_progress_and_is_ok() -> None:
    done = partition(0, StateBatch(5, 19, 2, 1), progress=(90_000, 90_000))
    assert (check(AGE, done).severity, check(AGE, done).value) == (Severity.OK, 0)


def test_progress_age_is_unknown_without_a_log_end_offset() -> None:
    found = check(AGE, partition(progress=(90_000, 90_000))._replace(log=LogOffsets()))
    assert (found.severity, found.message) == (
        Severity.UNKNOWN,
        "progress age unknown on 1 partition: no log end offset",
    )


def test_groups_that_are_not_read_yet_are_ok_and_other_types_unknown() -> None:
    assert (check(AGE).severity, check(AGE).message) == (Severity.OK, "no partition has been read yet")
    other = check(REDELIVERIES, group_type=GroupType.CLASSIC)
    assert (other.severity, other.message) == (Severity.UNKNOWN, "only share groups have redeliveries")


def test_rules_files_have_these_limits_and_samples_read_the_state_topic() -> None:
    text = '[[rule]]\ngroups = ["s"]\nmax-redeliveries = "1,3"\nmax-progress-age = {critical = "1m"}\n'
    (rule,) = parse_rules(text, "rules.toml")
    assert (rule.limits.redeliveries, rule.limits.progress_age) == (Threshold(1, 3), Threshold(None, 60_000))
    sampling = Sampling(Limits(), [rule], 0, 2)
    assert [sample.with_share_states for sample in sampling.planned()] == [True]
    assert not sampling.in_batches
    assert [sample.with_share_states for sample in Sampling(Limits(), [], 0, 2).planned()] == [False]
