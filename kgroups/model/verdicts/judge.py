"""Judge one partition of a group: the first rule that applies, in the order of :class:`.verdict.Key`.

The order is from outside to inside. First what keeps every consumer from reading (the log), then what is wrong with the
committed offset, whether anything is left to read, whether a member reads the partition, what hides or denies the
records, and last what the commits show about the member.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kgroups.model.counts import count
from kgroups.model.duration import Milliseconds
from kgroups.model.groups import GroupState
from kgroups.model.lag import EPOCH_AHEAD, RECREATED, diverged_remark
from kgroups.model.moments import moment_text
from kgroups.model.offsets import LogProblem
from kgroups.model.operations.commit_history import STUCK_AFTER
from kgroups.model.operations.committing import OF_A_CLIENT, SKEW, Rhythm
from kgroups.model.rates import USUAL, Direction
from kgroups.model.shell import group_words, group_words_in_text, shell
from kgroups.model.time_lag import ago

from ..stays import restarts
from .evidence import evidence_of
from .facts import OpenTransaction, PartitionFacts
from .verdict import Adds, Key, Severity, Verdict

REPEATS = 3
"""Commits of the same offset that are no coincidence."""
LARGE = 1_048_576
"""The default of ``max.partition.fetch.bytes``."""
RESTARTS = 2
"""Number of members that joined and left, each followed by another member, that is not a coincidence."""
COMMITS_PER_ATTEMPT = 4
"""A consumer that commits the same offset more often than this for each attempt does not crash there."""
RECENT_CHANGES = 10
"""A crash loop had its last membership change within this multiple of the time after which a partition is stuck."""
BURST = 1_000
"""Membership records within this many milliseconds are one change."""
DEFAULT_TRANSACTION_TIMEOUT = 60_000
"""The default of ``transaction.timeout.ms``."""


class Found(NamedTuple):
    """The decision of a rule."""

    key: Key
    severity: Severity
    text: str
    next: str | None = None
    adds: Adds | None = None


class Case(NamedTuple):
    """The facts, and the limit from which they are judged."""

    facts: PartitionFacts
    stuck_after: int

    @property
    def progressed(self) -> int | None:
        """When the group last made progress, or a time after it; ``None`` if no commit was read."""
        if self.facts.history is None or self.facts.committed is None:
            return None
        return self.facts.history.progressed(self.facts.committed)

    @property
    def written(self) -> int | None:
        return self.facts.record.timestamp if self.facts.record else None

    @property
    def unread_for(self) -> int | None:
        """The milliseconds that the first unread record waits without progress; ``None`` if unknown or absent."""
        history = self.facts.history
        if (
            history is None
            or self.facts.committed is None
            or not self.facts.record_known
            or self.facts.first_unread is None
        ):
            return None
        return self.facts.now - max(self.progressed or 0, self.written or 0)

    @property
    def waits(self) -> bool:
        """Whether the first unread record has waited for longer than the limit."""
        return self.unread_for is not None and self.unread_for >= self.stuck_after

    @property
    def overdue(self) -> bool:
        """Whether the next commit is overdue, too: later than one and a half times the longest time between two."""
        history, committed = self.facts.history, self.facts.committed
        if self.unread_for is None or history is None or committed is None:
            return False
        return self.waits and self.unread_for >= history.overdue_after(committed)

    @property
    def outsider(self) -> Rhythm | None:
        """The commits of a client that is not a member, or resets, after membership changes, if they may go on."""
        if self.facts.history is None:
            return None
        pair = self.facts.topic, self.facts.partition
        return self.facts.history.outsider(pair, self.facts.now, self.stuck_after)

    @property
    def changes(self) -> int:
        """The membership changes since the first unread record waits."""
        history = self.facts.history
        since = max(self.progressed or 0, self.written or 0)
        times = [time for time in (history.changes if history else ()) if time > since]
        return sum(not at or time - times[at - 1] > BURST for at, time in enumerate(times))

    @property
    def restarts(self) -> int:
        """The members that came and left again since the first unread record waits."""
        history = self.facts.history
        return restarts(history.stays, max(self.progressed or 0, self.written or 0)) if history else 0

    @property
    def repeats(self) -> list[int]:
        """The times at which the committed offset was committed again since the first unread record exists."""
        history, committed = self.facts.history, self.facts.committed
        if history is None or committed is None:
            return []
        return [time for time, _ in history.same(committed) if time >= (self.written or 0)]

    @property
    def inspect(self) -> tuple[str, Adds]:
        return self.command(f"explain {{group}} --partition {{place}} {Adds.RECORD}"), Adds.RECORD

    @property
    def deep(self) -> tuple[str, Adds]:
        return self.command(f"explain {{group}} {Adds.DEEP}"), Adds.DEEP

    def command(self, words: str) -> str:
        """Return a kgroups command about this group; ``{topic}`` and ``{place}`` become the topic and the partition."""
        return self._command(words, group_words(self.facts.group))

    def command_in_text(self, words: str) -> str:
        """Return the same for a sentence."""
        return self._command(words, group_words_in_text(self.facts.group))

    def tool(self, name: str, words: str) -> str:
        """Return a command of Kafka's tools."""
        return f"{name} --bootstrap-server {shell(self.facts.bootstrap)} {words}"

    def _command(self, words: str, group: str) -> str:
        topic = shell(self.facts.topic)
        place = shell(f"{self.facts.topic}:{self.facts.partition}")
        return f"kgroups {words.format(group=group, topic=topic, place=place)}"


Rule = Callable[[Case], Found | None]


def judge(facts: PartitionFacts, stuck_after: int = STUCK_AFTER) -> Verdict:
    """Return the verdict about a partition.

    :param stuck_after: milliseconds without progress after which it is stuck.
    """
    case = Case(facts, stuck_after)
    found = next(filter(None, (rule(case) for rule in RULES)), None) or _unknown(case)
    evidence = evidence_of(facts, case.progressed, case.changes)
    place = facts.group, facts.topic, facts.partition
    return Verdict(*place, found.key, found.severity, found.text, evidence, found.next, facts.unavailable, found.adds)


def _log(case: Case) -> Found | None:
    facts = case.facts
    if facts.log_problem is LogProblem.MISSING:
        if facts.committed is None and facts.owner is None:
            text = (
                "the partition does not exist, no member owns it, and the group has no committed offset for it: its "
                "topic was deleted, or never created"
            )
            return Found(Key.MISSING_PARTITION, Severity.WARNING, text, case.command("describe {group} --members"))
        text = "the partition does not exist: its topic was deleted, or recreated with fewer partitions"
        fix = "explain {group}" if facts.committed is None else "delete-offsets {group} --topic {place}"
        return Found(Key.MISSING_PARTITION, Severity.PROBLEM, text, case.command(fix))
    if facts.log_problem is LogProblem.LEADERLESS:
        return Found(
            Key.LEADERLESS,
            Severity.PROBLEM,
            "the partition has no leader: no client can read it or write to it",
            case.tool("kafka-topics.sh", f"--describe --topic {shell(facts.topic)}"),
        )
    if facts.log_problem is LogProblem.UNRESPONSIVE:
        leader = "its leader" if facts.leader is None else f"its leader, broker {facts.leader},"
        return Found(Key.LEADER_UNRESPONSIVE, Severity.PROBLEM, f"{leader} does not respond", "kgroups config check")
    return None


def _commit(case: Case) -> Found | None:
    facts = case.facts
    if facts.epoch_ahead:
        keep = case.command_in_text("reset-offsets {group} --topic {place} --to-current --execute")
        text = f"{EPOCH_AHEAD}, without an error; to keep the offset without its leader epoch: {keep}"
        return Found(Key.LEADER_EPOCH_AHEAD, Severity.PROBLEM, text, f"{_to_earliest(case)} --execute")
    if facts.recreated:
        text = f"the committed offset is invalid: {RECREATED}"
        return Found(Key.RECREATED_TOPIC, Severity.PROBLEM, text, _to_earliest(case))
    if facts.committed is None:
        return None
    if facts.start is not None and facts.committed < facts.start:
        lost = count(facts.start - facts.committed, "offset")
        text = (
            f"{lost} deleted before they were read; consumers continue according to auto.offset.reset when they next "
            "read the committed offset"
        )
        return Found(Key.BELOW_LOG_START, Severity.PROBLEM, text, _to_earliest(case))
    if facts.end is not None and facts.committed > facts.end:
        text = (
            f"the committed offset is {count(facts.committed - facts.end, 'offset')} beyond the end of the log: the "
            "log was truncated, the topic was recreated, or the offset was set by hand"
        )
        return Found(Key.BEYOND_LOG_END, Severity.PROBLEM, text, _to_earliest(case))
    if facts.diverged_at is not None:
        text = (
            f"{diverged_remark(facts.diverged_at, facts.committed)}, by an unclean leader election, or because the "
            "topic was deleted and created again; consumers that compare leader epochs go back there when they next "
            "read the committed offset, others skip the new records"
        )
        back = case.command(f"reset-offsets {{group}} --topic {{place}} --to-offset {facts.diverged_at}")
        return Found(Key.TRUNCATED_LOG, Severity.PROBLEM, text, back)
    return None


def _to_earliest(case: Case) -> str:
    return case.command("reset-offsets {group} --topic {place} --to-earliest")


def _nothing_left(case: Case) -> Found | None:
    facts = case.facts
    if facts.end is None:
        return None
    if facts.pending and (facts.lag == 0 or facts.nothing_unread):
        text = (
            "no record follows the committed offset, but an open transaction has an offset that replaces it when the "
            "transaction commits: records may be unread then"
        )
        return Found(Key.UNKNOWN, Severity.UNKNOWN, text)
    if facts.lag == 0 or (facts.committed is None and facts.start == facts.end):
        return Found(Key.CAUGHT_UP, Severity.INFO, "no record is unread: the group has consumed the whole log")
    if facts.nothing_unread and facts.first_aborted is not None:
        text = (
            f"only records of aborted transactions are unread, from offset {facts.first_aborted} on: consumers with "
            "isolation.level=read_committed have nothing to read, those with the default have; brokers do not report it"
        )
        return Found(Key.UNKNOWN, Severity.UNKNOWN, text)
    if facts.nothing_unread:
        text = (
            "no record is unread: only transaction markers, or offsets removed by compaction, are in the last "
            f"{count(facts.lag or 0, 'offset')}"
        )
        return Found(Key.NO_UNREAD_RECORDS, Severity.INFO, text)
    return None


def _crash_loop(case: Case) -> Found | None:
    """Find members that come and go at a record which can be read.

    The group may have no members between two attempts. Then repeated commits prove that members came back: when a
    group is stopped, its members leave one by one, too.
    """
    facts, restarted = case.facts, case.restarts
    readable = not facts.denied and not (facts.record_known and facts.first_unread is None)
    returned = not facts.members and len(case.repeats) >= REPEATS
    if not case.waits or not readable or not (facts.owner or facts.state in GroupState.REBALANCING or returned):
        return None
    if restarted < RESTARTS or len(case.repeats) > COMMITS_PER_ATTEMPT * (restarted + 1):
        return None
    last = max(facts.history.changes) if facts.history else 0
    if facts.now - last >= RECENT_CHANGES * case.stuck_after:
        return None
    repeated = f"; the same offset was committed {len(case.repeats):,} times" if len(case.repeats) > 1 else ""
    text = (
        f"members left and came back {restarted:,} times without progress, last at {moment_text(last)}{repeated}: the "
        "consumer fails at the record at this offset and starts again, or rebalances do not end"
    )
    return Found(Key.CRASH_LOOP, Severity.PROBLEM, text, *case.inspect)


def _rebalance(case: Case) -> Found | None:
    facts = case.facts
    if facts.state in GroupState.REBALANCING and facts.owner is None:
        text = f"the group is rebalancing ({facts.state}): no member consumes the partition until it ends"
        return Found(Key.REBALANCING, Severity.WARNING, text, *case.deep)
    if facts.state in GroupState.JOINING and _is_uncommitted(facts):
        return _waits_for_members(case, Severity.WARNING)
    return None


def _is_uncommitted(facts: PartitionFacts) -> bool:
    return facts.committed is None and facts.end is not None  # brokers hide both without DESCRIBE on the topic


def _member(case: Case) -> Found | None:
    facts = case.facts
    uncommitted = _is_uncommitted(facts)
    if facts.left and not case.outsider:
        text = "no member subscribes to the topic: nothing reads the partition for this group; its offset expires"
        command = "delete-offsets {group} --topic {topic}"
        if facts.lag:
            text += "; a consumer that subscribes to it is missing, or the group no longer reads it"
            command = "describe {group} --members"
        return Found(Key.NOT_SUBSCRIBED, Severity.WARNING, text, case.command(command))
    if facts.owner is None and not case.outsider:
        text = "the group has no members"
        if facts.members:
            text = f"the partition is not assigned to any of the {count(facts.members, 'member')} of the group"
        elif facts.members is None:
            return None
        elif facts.history is None and not uncommitted:
            text += "; whether a client that is not a member reads the partition is unknown"
            return Found(Key.UNKNOWN, Severity.UNKNOWN, text)
        if uncommitted:
            text += ", and the group has no committed offset for it"
        return Found(Key.UNASSIGNED, Severity.PROBLEM, text, case.command("explain {group}"))
    if facts.owner is None and case.outsider and case.outsider.commits < OF_A_CLIENT:
        text = (
            f"no member has the partition; its offset was set {case.outsider.commits} times, by resets or by a client "
            f"that is not a member: {case.command_in_text('check {group} --stopped')} waits for the next commit"
        )
        return Found(Key.UNKNOWN, Severity.UNKNOWN, text)
    if uncommitted:
        text = (
            "the partition is assigned, but the group has never committed an offset for it, or its offsets have expired"
        )
        return Found(Key.NEVER_COMMITTED, Severity.WARNING, text, *case.deep)
    return None


def _transaction(case: Case) -> Found | None:
    facts = case.facts
    stable, end, committed = facts.last_stable, facts.end, facts.committed
    if stable is None or end is None or committed is None or stable >= end or committed > stable:
        return None
    if not facts.record_known or facts.first_unread is not None:
        return None
    hidden = f"consumers with isolation.level=read_committed cannot read the last {count(end - stable, 'offset')}"
    if not facts.transactions:
        return Found(
            Key.OPEN_TRANSACTION,
            Severity.WARNING,
            f"a transaction is open from offset {stable} on: {hidden}",
            case.tool("kafka-transactions.sh", _producers_of(facts)),
        )
    oldest = min(facts.transactions, key=lambda each: each.began_at)
    started = None if oldest.ended else oldest.started  # else of another transaction
    since = oldest.last_write if started is None else started
    who = f"producer ID {oldest.producer_id}"
    if oldest.transactional_id is not None:
        who += f" (transactional ID {oldest.transactional_id!r}, coordinator broker {oldest.coordinator})"
    word = "its last record is of" if started is None else "since"
    timeout = oldest.timeout_ms or DEFAULT_TRANSACTION_TIMEOUT
    over = facts.now - since > timeout
    what, words = _end_of(facts, oldest, since + timeout, over=over)
    return Found(
        Key.OPEN_TRANSACTION,
        Severity.PROBLEM if over else Severity.WARNING,
        f"the transaction of {who} is open, {word} {moment_text(since)} ({ago(since, facts.now)}): {hidden}; {what}",
        case.tool("kafka-transactions.sh", words),
    )


def _end_of(facts: PartitionFacts, each: OpenTransaction, limit: int, *, over: bool) -> tuple[str, str]:
    """Return how an open transaction ends, and the words of the next command.

    Aborting a transaction that its coordinator still has loses its records, although its producer commits it.
    """
    if each.transactional_id is None or each.state is None:
        return "whether it is hanging is unknown: do not abort it before that is known", _producers_of(facts)
    describe = f"describe --transactional-id {shell(each.transactional_id)}"
    if each.ended and over:
        text = (
            f"it is hanging: its coordinator has ended it (state {each.state}), and nothing ends it in this partition"
        )
        return text, f"abort {_at(facts)} --start-offset {each.began_at}"
    if each.ended:
        return f"its coordinator has ended it (state {each.state}), and may still write its marker", describe
    if over:
        text = (
            f"it is older than its timeout, but its coordinator still has it (state {each.state}): do not abort it here"
        )
        return text, describe
    if each.state != "Ongoing":
        return f"its coordinator ends it (state {each.state})", describe
    text = f"it is within its timeout of {Milliseconds(each.timeout_ms or 0)}: its coordinator aborts it at "
    return f"{text}{moment_text(limit)} if its producer does not end it before", describe


def _producers_of(facts: PartitionFacts) -> str:
    return f"describe-producers {_at(facts)}"


def _at(facts: PartitionFacts) -> str:
    return f"--topic {shell(facts.topic)} --partition {facts.partition}"


def _denied(case: Case) -> Found | None:
    facts = case.facts
    recent = case.progressed is not None and facts.now - case.progressed < case.stuck_after
    if not facts.denied or recent:
        return None
    text = (
        f"reading is denied: the principal of this command is not authorized for {facts.denied}; if the consumer uses "
        "the same principal, it reads nothing"
    )
    return Found(
        Key.FETCH_DENIED,
        Severity.WARNING,
        text,
        case.tool("kafka-acls.sh", f"--list --topic {shell(facts.topic)}"),
    )


def _waits_for_members(case: Case, severity: Severity) -> Found:
    """Return the verdict about a partition with an owner before the rebalance (Kafka 4.0)."""
    text = (
        f"the group is rebalancing ({case.facts.state}), and waits for its members to join again: {_client(case)} had "
        "the partition before"
    )
    return Found(Key.REBALANCING, severity, text, *case.deep)


def _client(case: Case) -> str:
    owner = case.facts.owner
    return f"member {owner.client_id} ({owner.host})" if owner else "the client"


def _stuck(case: Case) -> Found | None:
    facts = case.facts
    history = facts.history
    if not case.waits or history is None or facts.committed is None:
        return None
    repeats = case.repeats
    if len(repeats) >= REPEATS:
        text = (
            f"the same offset was committed {len(repeats):,} times since {moment_text(repeats[0])}: the consumer reads "
            "and commits, but does not get past the record at this offset, or it has paused the partition"
        )
        return Found(Key.SAME_OFFSET_COMMITTED, Severity.PROBLEM, text, *case.inspect)
    if not case.overdue:
        return None
    if facts.state in GroupState.JOINING and facts.owner:
        return _waits_for_members(case, Severity.PROBLEM)
    who = _client(case)
    if facts.record is not None and facts.record.batch_size > LARGE:
        text = (
            f"{who} makes no progress, and the batch of the first unread record has {facts.record.batch_size:,} bytes, "
            f"more than the default of max.partition.fetch.bytes ({LARGE:,}): the consumer may lack memory or time for "
            "it"
        )
        return Found(Key.LARGE_RECORD, Severity.WARNING, text, *case.inspect)
    last = history.last
    if last is not None:
        silence = f"its last commit was at {moment_text(last)} ({ago(last, facts.now)})"
    elif history.since is not None:
        silence = f"it has not committed since {moment_text(history.since)} or earlier"
    else:
        silence = "its commit is not in the log of the group any more"
    other, waits_since = facts.other_commit, max(case.progressed or 0, case.written or 0)
    if other is not None and other > waits_since and facts.now - other < case.stuck_after:
        text = (
            f"{who} commits other partitions, the last at {moment_text(other)} ({ago(other, facts.now)}), but not this "
            "one: it has paused it, or fails at its records"
        )
    else:
        text = f"{who} has the partition, but does not commit: {silence}"
    return Found(Key.NOT_COMMITTING, Severity.PROBLEM, text, *case.inspect)


def _pace(case: Case) -> Found | None:
    facts, history = case.facts, case.facts.history
    lag = facts.lag
    if history is None or facts.committed is None or lag is None:
        return None
    if (pace := facts.pace) and facts.last_stable == facts.end:
        if pace.falls_behind:
            return _behind(case, f"the consumer is slower than the producers: {pace}")
        if pace.direction is Direction.SHRANK:
            left = pace.catch_up(pace.lag)
            when = f"; at this pace, the group will have caught up in about {left}" if left else ""
            return Found(Key.CATCHING_UP, Severity.INFO, f"the lag shrinks: {pace}{when}")
    recent = case.progressed is not None and facts.now - case.progressed < case.stuck_after
    if not recent and case.written is not None and case.written > facts.now + SKEW:
        text = "no verdict, because the time of the first unread record is in the future, and no progress is recent"
        return Found(Key.UNKNOWN, Severity.UNKNOWN, text)
    if not case.overdue and facts.record_known and (history.last is not None or case.written is not None):
        limit = Milliseconds(case.stuck_after)
        text = f"the group makes progress, or its first unread record is not older than {limit}; the lag is {lag:,}"
        if facts.owner is None:
            text = f"no member has the partition, but a client that is not a member commits; the lag is {lag:,}"
        return Found(Key.PROGRESSING, Severity.INFO, text)
    return None


def needs_pace(facts: PartitionFacts) -> bool:
    """Return whether the verdict depends on whether the lag grows: the member commits, and has much left to read."""
    history = facts.history
    if facts.lag is None or history is None or facts.owner is None or judge(facts).key is not Key.PROGRESSING:
        return False
    changed = max(history.changes, default=0)
    made = [each for each in history.commits if each[0] > changed]
    if len(made) < 2 or made[-1][1] <= made[0][1]:
        return False
    (began, first), (ended, last) = made[0], made[-1]
    return facts.lag * (ended - began) > (last - first) * USUAL * 1000


def _behind(case: Case, text: str) -> Found:
    facts = case.facts
    if facts.limit is None or facts.owner is None:
        return Found(Key.FALLING_BEHIND, Severity.WARNING, text, case.command("describe {group} --members"))
    return Found(
        Key.THROTTLED,
        Severity.WARNING,
        f"{text}; a quota for {facts.limit.entity} allows {facts.limit.bytes_per_second:,.0f} bytes per second, and "
        "the broker delays what exceeds it",
        case.tool("kafka-configs.sh", f"--describe --entity-type clients --entity-name {shell(facts.owner.client_id)}"),
    )


def _unknown(case: Case) -> Found:
    parts = ", ".join(dict.fromkeys(each.part.value for each in case.facts.unavailable)) or "members"
    return Found(Key.UNKNOWN, Severity.UNKNOWN, f"no verdict, because these facts are not available: {parts}")


RULES: tuple[Rule, ...] = (
    _log,
    _commit,
    _nothing_left,
    _crash_loop,
    _rebalance,
    _member,
    _transaction,
    _denied,
    _stuck,
    _pace,
)
"""In order of precedence."""
