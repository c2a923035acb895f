"""Facts with one planted cause each, drawn at random, and the verdict that names it."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate

from kgroups.model.offsets import LogProblem
from kgroups.model.operations.commit_history import STUCK_AFTER, History
from kgroups.model.quotas import FetchLimit
from kgroups.model.rates import Pace
from kgroups.model.record import Header, RecordDetails
from kgroups.model.stays import Presence, StayRecorder
from kgroups.model.verdicts.facts import OpenTransaction, Owner, Part, PartitionFacts, Unavailable
from kgroups.model.verdicts.judge import LARGE
from kgroups.model.verdicts.verdict import Key

NOW = 1_800_000_000_000
MINUTE = 60_000
OWNER = Owner("m-1", "client", "/10.0.0.1")


def record(offset: int, age: int = 10 * MINUTE, batch_size: int = 200) -> RecordDetails:
    return RecordDetails(offset, NOW - age, b"key", b"value", (Header("trace", b"1"),), 8, batch_size, offset, 7)


def healthy(random_: random.Random) -> PartitionFacts:
    """A member that commits every few seconds, in a log of which it has read almost everything."""
    start = random_.choice((0, random_.randrange(1, 10_000)))
    committed = start + random_.randrange(20, 1_000)
    end = committed + random_.randrange(1, 50)
    pause = random_.randrange(1_000, 8_000)
    times = range(NOW - random_.randrange(1_000) - 9 * pause, NOW, pause)
    commits = tuple((time, committed - (len(times) - 1 - at)) for at, time in enumerate(times))
    return PartitionFacts(
        "g",
        "t",
        random_.randrange(50),
        NOW,
        members=random_.randrange(1, 5),
        committed=committed,
        start=start,
        end=end,
        last_stable=end,
        owner=OWNER,
        record_known=True,
        first_unread=committed,
        record=record(committed, random_.randrange(0, STUCK_AFTER // 2)),
        history=History(commits, (NOW - 30 * MINUTE,)),
    )


def stuck(random_: random.Random, commits: int = 1, batch_size: int = 200) -> PartitionFacts:
    """A member without progress: the last commits are of the same offset, and older than the limit."""
    facts = healthy(random_)
    at = facts.committed or 0
    ages = sorted((random_.randrange(2 * STUCK_AFTER, 30 * MINUTE) for _ in range(commits)), reverse=True)
    began = NOW - ages[0]
    made = ((began - 10_000, at - 5), (began - 5_000, at - 3), *((NOW - age, at) for age in ages))
    return facts._replace(
        history=History(made, (NOW - 60 * MINUTE,)), record=record(at, 35 * MINUTE, batch_size), first_unread=at
    )


def _leaderless(random_: random.Random) -> PartitionFacts:
    problem = LogProblem.LEADERLESS
    return stuck(random_)._replace(log_problem=problem, start=None, end=None, record_known=False, record=None)


def _unresponsive(random_: random.Random) -> PartitionFacts:
    return _leaderless(random_)._replace(log_problem=LogProblem.UNRESPONSIVE)


def _missing(random_: random.Random) -> PartitionFacts:
    return _leaderless(random_)._replace(log_problem=LogProblem.MISSING)


def _recreated(random_: random.Random) -> PartitionFacts:
    return random_.choice((healthy, stuck))(random_)._replace(recreated=True)


def _epoch_ahead(random_: random.Random) -> PartitionFacts:
    return _recreated(random_)._replace(epoch_ahead=True, recreated=random_.choice((True, False)))


def _below(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_)
    return facts._replace(start=(facts.committed or 0) + random_.randrange(1, 15))


def _beyond(random_: random.Random) -> PartitionFacts:
    facts = healthy(random_)
    return facts._replace(committed=(facts.end or 0) + random_.randrange(1, 100), record_known=False, record=None)


def _truncated(random_: random.Random) -> PartitionFacts:
    facts = healthy(random_)
    return facts._replace(diverged_at=(facts.committed or 0) - random_.randrange(1, 5))


def _caught_up(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_, random_.randrange(1, 9))
    owner = random_.choice((OWNER, None))
    return facts._replace(
        end=facts.committed, last_stable=facts.committed, owner=owner, record_known=False, record=None
    )


def _hole(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_, random_.randrange(1, 9))
    return facts._replace(first_unread=None, record=None, owner=random_.choice((OWNER, None)))


def _left(random: random.Random) -> PartitionFacts:
    return _unassigned(random)._replace(left=True, members=2, state="Stable")


def _unassigned(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_)
    members = random_.randrange(3)
    return facts._replace(owner=None, members=members, state="Stable" if members else "Empty")


def _rebalancing(random_: random.Random) -> PartitionFacts:
    return stuck(random_)._replace(owner=None, state=random_.choice(("PreparingRebalance", "CompletingRebalance")))


def _uncommitted(random_: random.Random) -> PartitionFacts:
    return healthy(random_)._replace(committed=None, record_known=False, record=None, history=History())


def _transaction(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_, random_.randrange(1, 6))
    stable = (facts.committed or 0) + random_.randrange(0, 1)
    began = NOW - random_.randrange(5_000, 100 * MINUTE)
    named = random_.choice((True, False))
    one = OpenTransaction(9, stable, began, *(("tx", "Ongoing", began, 60_000, 1) if named else ()))
    return facts._replace(last_stable=stable, first_unread=None, record=None, transactions=(one,))


def _denied(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_)
    return facts._replace(record_known=False, record=None, first_unread=None, denied="READ on TOPIC t")


def _same(random_: random.Random) -> PartitionFacts:
    return stuck(random_, random_.randrange(3, 20))


def _crashing(random_: random.Random) -> PartitionFacts:
    facts = stuck(random_)
    attempts = random_.randrange(3, 9)
    gaps = (random_.randrange(5_000, 20_000) for _ in range(2 * attempts - 1))
    changes = tuple(NOW - 3_000 - back for back in reversed(list(accumulate(gaps))))
    recorder, unique = StayRecorder(), random_.random() < 0.5
    recorder.snapshot(NOW - 60 * MINUTE, {})
    for at, time in enumerate(changes):
        presence = Presence(None, f"consumer-{at if unique else 1}@host")
        recorder.snapshot(time, {} if at % 2 else {f"m-{at}": presence})
    history = facts.history or History()
    commits = ((NOW - 50 * MINUTE, facts.committed or 0),)
    return facts._replace(history=history._replace(commits=commits, changes=changes, stays=recorder.stays))


def _large(random_: random.Random) -> PartitionFacts:
    return stuck(random_, batch_size=LARGE + random_.randrange(1, 2**24))


def _silent(random_: random.Random) -> PartitionFacts:
    return stuck(random_, random_.randrange(1, 3))


def _slow(random_: random.Random) -> PartitionFacts:
    facts = healthy(random_)
    committed, rate = facts.committed or 0, random_.randrange(2, 50)
    commits = tuple((time, committed - rate * (NOW - time) // 1000) for time in range(NOW - 5 * MINUTE, NOW, 5_000))
    end = committed + rate * 1_000
    grown = rate * random_.randrange(2, 9) * 10
    pace = Pace(
        0, 10_000, end - committed - grown, end - committed, end - committed - grown, end - committed, rate * 10
    )
    old = record(committed, 20 * MINUTE)
    return facts._replace(end=end, last_stable=end, record=old, history=History(commits), pace=pace)


def _throttled(random_: random.Random) -> PartitionFacts:
    return _slow(random_)._replace(limit=FetchLimit(random_.randrange(1, 10**9), "client ID 'app'"))


def _fast(random_: random.Random) -> PartitionFacts:
    facts = _slow(random_)
    lag, rate = facts.lag or 0, random_.randrange(2, 50)
    return facts._replace(pace=Pace(0, 10_000, lag + 5 * rate, lag, lag + 5 * rate, lag, 10 * rate))


def _progressing(random_: random.Random) -> PartitionFacts:
    return healthy(random_)


def _unknown(random_: random.Random) -> PartitionFacts:
    lacking = (Unavailable(Part.COMMITS, "reading __consumer_offsets needs the ACL READ on it"),)
    return stuck(random_)._replace(history=None, unavailable=lacking)


PLANTED: dict[Key, Callable[[random.Random], PartitionFacts]] = {
    Key.MISSING_PARTITION: _missing,
    Key.LEADERLESS: _leaderless,
    Key.LEADER_UNRESPONSIVE: _unresponsive,
    Key.LEADER_EPOCH_AHEAD: _epoch_ahead,
    Key.RECREATED_TOPIC: _recreated,
    Key.BELOW_LOG_START: _below,
    Key.BEYOND_LOG_END: _beyond,
    Key.TRUNCATED_LOG: _truncated,
    Key.CAUGHT_UP: _caught_up,
    Key.NO_UNREAD_RECORDS: _hole,
    Key.CRASH_LOOP: _crashing,
    Key.NOT_SUBSCRIBED: _left,
    Key.UNASSIGNED: _unassigned,
    Key.REBALANCING: _rebalancing,
    Key.NEVER_COMMITTED: _uncommitted,
    Key.OPEN_TRANSACTION: _transaction,
    Key.FETCH_DENIED: _denied,
    Key.SAME_OFFSET_COMMITTED: _same,
    Key.LARGE_RECORD: _large,
    Key.NOT_COMMITTING: _silent,
    Key.THROTTLED: _throttled,
    Key.FALLING_BEHIND: _slow,
    Key.CATCHING_UP: _fast,
    Key.PROGRESSING: _progressing,
    Key.UNKNOWN: _unknown,
}
"""Verdict -> facts whose only cause is that one, in order of precedence."""
