"""The evidence of a verdict: every known fact, as a stable name, a value, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.counts import count
from kgroups.model.moments import moment_text
from kgroups.model.record import RecordDetails
from kgroups.model.time_lag import age_of, ago

from .facts import OpenTransaction, PartitionFacts
from .verdict import Evidence


def evidence_of(facts: PartitionFacts, progressed: int | None, changes: int) -> tuple[Evidence, ...]:
    """Return what is known about a partition.

    :param progressed: when its committed offset was first committed.
    :param changes: the membership changes since then.
    """
    return tuple(_evidence(facts, progressed, changes))


def _evidence(facts: PartitionFacts, progressed: int | None, changes: int) -> Iterator[Evidence]:
    committed = "none" if facts.committed is None else str(facts.committed)
    yield Evidence("committed_offset", facts.committed, f"committed offset: {committed}")
    if facts.end is not None:
        lag = "" if facts.lag is None else f", lag {facts.lag:,}"
        yield Evidence("log_end_offset", facts.end, f"log: offsets {facts.start} to {facts.end}{lag}")
    if facts.last_stable is not None and facts.last_stable != facts.end:
        yield Evidence("last_stable_offset", facts.last_stable, f"last stable offset: {facts.last_stable}")
    if facts.diverged_at is not None:
        text = f"the records of the leader epoch of the commit end before offset {facts.diverged_at}"
        yield Evidence("diverged_offset", facts.diverged_at, text)
    yield from _members(facts)
    yield from _history(facts, progressed, changes)
    if facts.record_known and facts.record is None and facts.first_unread is not None:
        yield Evidence("first_unread_offset", facts.first_unread, f"first unread record: offset {facts.first_unread}")
    if facts.record is not None:
        yield from _record(facts.record, facts.now)
    if facts.limit is not None:
        rate = facts.limit.bytes_per_second
        yield Evidence("consumer_byte_rate", rate, f"quota for {facts.limit.entity}: {rate:,.0f} bytes per second")
    for each in facts.transactions:
        yield Evidence("producer_id", each.producer_id, _transaction(each))


def _members(facts: PartitionFacts) -> Iterator[Evidence]:
    if facts.owner is not None:
        owner = facts.owner
        yield Evidence("member", owner.member_id, f"assigned to {owner.member_id} ({owner.client_id}, {owner.host})")
    else:
        members = "" if facts.members is None else f", {count(facts.members, 'member')}"
        yield Evidence("state", facts.state, f"not assigned; the group is {facts.state}{members}")


def _history(facts: PartitionFacts, progressed: int | None, changes: int) -> Iterator[Evidence]:
    if facts.history is not None:
        if facts.history.last is not None:
            yield _time("last_commit", "last commit", facts.history.last, facts.now)
        if progressed is not None and progressed != facts.history.last:
            yield _time("last_progress", "committed offset first committed, or earlier", progressed, facts.now)
        if changes:
            yield Evidence("membership_changes", changes, f"membership changes without progress: {changes:,}")


def _time(name: str, label: str, time: int, now: int) -> Evidence:
    return Evidence(name, time, f"{label}: {moment_text(time)} ({ago(time, now)})")


def _record(record: RecordDetails, now: int) -> Iterator[Evidence]:
    written = "without a timestamp"
    if record.timestamp is not None:
        written = f"written {moment_text(record.timestamp)} ({ago(record.timestamp, now)})"
    producer = "" if record.producer_id is None else f", producer ID {record.producer_id}"
    text = (
        f"first unread record: offset {record.offset}, {written}, {count(record.size, 'byte')}, in a batch of "
        f"{count(record.batch_size, 'byte')} from offset {record.batch_base}{producer}"
    )
    yield Evidence("first_unread_offset", record.offset, text)
    if record.timestamp is not None and (age := age_of(record.timestamp, now)) is not None:
        yield Evidence("first_unread_age_ms", age, "")
    yield Evidence("record_size", record.size, "")
    yield Evidence("batch_size", record.batch_size, "")
    if record.headers:
        names = ", ".join(header.name for header in record.headers)
        yield Evidence("header_names", names, f"header names: {names}")


def _transaction(each: OpenTransaction) -> str:
    who = f"open transaction: producer ID {each.producer_id}, first offset {each.began_at}"
    if each.transactional_id is not None:
        who += f", transactional ID {each.transactional_id!r}, coordinator broker {each.coordinator}"
    if each.state is not None:
        who += f", state {each.state}"
    if each.timeout_ms is not None:
        who += f", timeout {each.timeout_ms:,} ms"
    if each.started is not None:
        return f"{who}, started {moment_text(each.started)}"
    return f"{who}, last record {moment_text(each.last_write)}"
