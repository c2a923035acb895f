"""Findings about share groups."""

from __future__ import annotations

from kgroups.model.effective_setting import Effective
from kgroups.model.explain import explain
from kgroups.model.explain.facts import GroupFacts
from kgroups.model.explain.findings import Finding, Severity
from kgroups.model.offsets import LogOffsets
from kgroups.model.share.batches import StateBatch
from kgroups.model.share.partition import ShareFacts, SharePartition, ShareSettings
from kgroups.model.share.state import Between, ShareState
from kgroups.model.time_lag import FirstUnread

from .groups import facts, member

NOW = 1_000_000
SETTINGS = ShareSettings(
    Effective("share.delivery.count.limit", "5"),
    Effective("share.record.lock.duration.ms", "30000"),
    Effective("errors.deadletterqueue.topic.name", ""),
)
JUST_NOW = Between(NOW - 30_000, NOW - 30_000)
LONG_AGO = NOW - 30_001


def state(*batches: StateBatch, progress: Between = JUST_NOW, since: int = NOW - 30_000) -> ShareState:
    return ShareState(1, 2, 3, 5, batches, progress, since)


def partition(found: ShareState | None, number: int = 0, unknown: str | None = None) -> SharePartition:
    return SharePartition("t", number, LogOffsets(0, 20), found, unknown, FirstUnread(5, NOW - 60_000))


def share_group(
    *partitions: SharePartition,
    settings: ShareSettings = SETTINGS,
    members: bool = True,
    dead_letters: int | str | None = None,
) -> dict[str, Finding]:
    """The findings about a share group, by rule."""
    group: GroupFacts = facts(*([member("a")] if members else []), type="Share", protocol_type="share")
    shared = group._replace(share=ShareFacts(partitions, settings, NOW, dead_letters))
    return {finding.rule: finding for finding in explain(shared)}


def notable(found: dict[str, Finding]) -> dict[str, Severity]:
    return {rule: finding.severity for rule, finding in found.items() if finding.severity is not Severity.INFO}


def test_healthy_share_group_has_only_informational_findings() -> None:
    found = share_group(partition(state(StateBatch(6, 7, 2, 1), StateBatch(8, 8, 0, 1))))
    assert notable(found) == {}
    assert found["share-limits"].text == (
        "a record is delivered at most 5 times (share.delivery.count.limit), and locked for 30s for each delivery "
        "(share.record.lock.duration.ms)"
    )
    assert "is unknown: no API and no record reports it" in found["acquired"].text
    assert found["dead-letter-topic"].text.startswith("it has no dead-letter topic")


def test_other_groups_and_share_groups_without_states_have_no_such_findings() -> None:
    rules = {finding.rule for finding in explain(facts(member("a", {"t": (0, 1, 2, 3)})))}
    assert rules.isdisjoint({"share-limits", "acquired", "dead-letter-topic"})


def test_unknown_states_are_a_warning_with_reason() -> None:
    found = share_group(partition(None, unknown="no ACL"), partition(None, 1, "no ACL"))
    assert notable(found) == {"share-state-unknown": Severity.WARNING}
    assert found["share-state-unknown"].text == "the delivery state of 2 partitions is unknown (t-0, t-1): no ACL"


def test_records_delivered_repeatedly_are_a_warning() -> None:
    found = share_group(partition(state(StateBatch(8, 9, 0, 3), StateBatch(10, 10, 0, 2), StateBatch(11, 11, 4, 5))))
    assert found["redelivered"] == Finding(
        Severity.WARNING,
        "redelivered",
        "t-0: 3 records delivered repeatedly and not finished; offsets 8 to 9: 3 of at most 5 deliveries",
        ("t-0",),
    )


def test_records_one_delivery_from_the_limit_are_a_problem() -> None:
    found = share_group(
        partition(state(StateBatch(8, 8, 0, 3))), partition(state(StateBatch(8, 8, 0, 4), StateBatch(9, 9, 0, 2)), 1)
    )
    assert found["redelivered"] == Finding(
        Severity.PROBLEM,
        "redelivered",
        "t-1: 2 records delivered repeatedly and not finished; offset 8: 4 of at most 5 deliveries; the next delivery "
        "is the last for 1 record; similar: 1 more partition (t-0)",
        ("t-1", "t-0"),
    )


def test_unknown_delivery_limit_is_named() -> None:
    unknown = SETTINGS._replace(delivery_limit=Effective("share.delivery.count.limit", unknown="no ACL"))
    found = share_group(partition(state(StateBatch(8, 8, 0, 4))), settings=unknown)
    assert found["redelivered"].severity is Severity.WARNING
    assert found["redelivered"].text.endswith("offset 8: 4 deliveries; share.delivery.count.limit is unknown")
    assert "a number of times that is unknown" in found["share-limits"].text
    assert found["share-limits"].text.endswith("; share.delivery.count.limit: no ACL")


def test_start_offset_that_stands_for_longer_than_a_lock_is_a_warning() -> None:
    later = StateBatch(6, 9, 2, 1)
    assert "start-offset-stands" not in share_group(partition(state(later)))
    assert "start-offset-stands" not in share_group(partition(state(since=LONG_AGO)))
    found = share_group(partition(state(later, since=LONG_AGO)))["start-offset-stands"]
    assert found.severity is Severity.WARNING
    assert found.text == (
        "t-0: the start offset is 5 for at least 30s, and 4 later records are finished; the oldest unfinished record "
        "is at offset 5, from 1970-01-01T00:15:40.000Z (1m ago): it has no delivery state: a member has acquired it "
        "and renews its lock, or it waits for its next delivery; no API reports whether and by which member it is "
        "acquired"
    )
    assert "no members that could read it" in (
        share_group(partition(state(later, since=LONG_AGO)), members=False)["start-offset-stands"].text
    )
    released = share_group(partition(state(StateBatch(5, 5, 0, 2), later, since=LONG_AGO)))["start-offset-stands"]
    assert "it was delivered 2 times, and released or not acknowledged in time" in released.text


def test_archived_records_are_a_warning_with_the_dead_letter_topic() -> None:
    dead = SETTINGS._replace(dead_letter_topic=Effective("errors.deadletterqueue.topic.name", "dlq.t"))
    found = share_group(partition(state(StateBatch(6, 7, 4, 5))), settings=dead, dead_letters=2)
    assert notable(found) == {"archived": Severity.WARNING}
    assert found["archived"].text == (
        "t-0: 2 records after the start offset are archived, that is rejected, or delivered as often as allowed: not "
        "delivered again; see the dead-letter topic 'dlq.t'"
    )
    assert found["dead-letter-topic"].subjects == ("dlq.t",)
    assert found["dead-letter-topic"].text.startswith("its dead-letter topic is 'dlq.t' (at most 2 records): brokers ")
    unknown = share_group(partition(state()), settings=dead, dead_letters="it does not exist")
    assert "'dlq.t' (records unknown: it does not exist)" in unknown["dead-letter-topic"].text


def test_no_progress_for_longer_than_a_lock_is_a_warning_if_there_are_members() -> None:
    exact, between = Between(LONG_AGO, LONG_AGO), Between(LONG_AGO - 60_000, LONG_AGO)
    found = share_group(partition(state(progress=exact)))
    assert notable(found) == {"no-progress": Severity.WARNING}
    assert "the last progress was at 1970-01-01T00:16:09.999Z, 30s ago" in found["no-progress"].text
    assert notable(share_group(partition(state(progress=exact)), members=False)) == {}
    assert "between 1970-01-01T00:15:09.999Z and 1970-01-01T00:16:09.999Z, at least 30s ago" in (
        share_group(partition(state(progress=between)))["no-progress"].text
    )
    done = partition(state(StateBatch(5, 19, 2, 1), progress=exact))
    assert "no-progress" not in share_group(done), "nothing is left to do"


def test_oldest_record_of_unknown_age_is_named() -> None:
    given = partition(state(progress=Between(LONG_AGO, LONG_AGO)))
    texts = [
        share_group(given._replace(oldest=oldest))["no-progress"].text
        for oldest in (None, FirstUnread(failed="no"), FirstUnread(5))
    ]
    assert [text.rpartition("offset 5")[2] for text in texts] == [
        ", of unknown age",
        ", of unknown age",
        ", without a timestamp",
    ]
