"""Put a world before all judges, and compare what they say with what is true.

What contradicts the truth:

=================================  ====================================================================================
verdict                            contradicts if
=================================  ====================================================================================
total lag, partition lag           it is not the number of entries after the committed offset, of all partitions
check --lag OK                     more is unread on the partitions with a committed offset, or records are unread on a
                                   partition without one, or were deleted unread
check --lag CRITICAL               not more is unread, and nothing was deleted unread
check --time-lag OK                a readable record was appended before the limit (not by its own time)
check --trend OK                   a record was readable all the time, and no client advanced or committed an advance
check --trend STOP                 an offset was committed in the window, or a client has read all the time since the
                                   offset changed, and advanced in the window
check --trend STALL                the committed offset changed in the window, or nothing was committed in it
check --trend REWIND               it did not go back within one topic
check --trend WARN                 the backlog of the reader did not grow; except for bursts since the last commit, and
                                   for records that were deleted unread
check --stopped, --assigned OK     the group has members; a partition of a subscribed topic has no owner
explain caught-up                  a record is readable, or the commit is of an earlier topic
explain no-unread-records          a record is readable, or a transaction is open
explain below-, beyond-log ...     the offset is in the log
explain crash-loop                 no member left since the progress
explain unassigned                 a client reads the partition; one that is no member has committed twice
explain rebalancing                the group is not rebalancing
explain never-committed            there is a commit
explain open-transaction           no transaction is open
explain not-committing, same-...   the committed offset changed, or the record was appended, within the limit
explain progressing                neither the offset changed nor the record was appended for 3 limits; without an
                                   owner, only resets committed
explain falling-behind             the backlog of the reader did not grow in the span, nobody reads, or something else
                                   than a member changed the offset in the span
explain catching-up                likewise did not shrink; or the time is not half to twice the true one
watch IN/S, OUT/S                  no span of the last samples has this production, or consumption by members and in
                                   transactions
watch CATCH-UP                     a partition with a backlog does not shrink in its span; or as above, of the slowest
watch steady                       unread entries of a partition are older than 10 s, and its backlog at two commits is
                                   neither read in twice this time, nor the same within a fifth; or nobody reads
watch never                        the backlog grew nowhere, and the group has members
lag STATUS                         it is well, and a record is unread; damage, members, or state are others
watch STATUS                       it is well, and unread entries of a partition are older than 10 s and not read in
                                   twice this time, or no member has read any of it since the first sample that is not
                                   broken; or lag has another one, and watch has no direction
exporter lags                      as total lag; values that are not stale
exporter lag seconds (sampled)     it is wrong by 5 polls (a leader that is down cannot be polled) and a quarter
exporter unchanged seconds         the offset changed within them, other than by several resets between two polls
=================================  ====================================================================================

A verdict that is unknown contradicts nothing; :class:`Tally` counts these. Two situations that brokers do not tell
apart are left out: an operator resets offsets at most three times between two changes of the members (more look like a
client that commits), and what a transaction commits counts as read by a client.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kgroups.admin.verdicts.gather import _facts, _Gathered, _position
from kgroups.model.headroom import Policy, Retention
from kgroups.model.health.findings import Proof, Seen
from kgroups.model.health.judge import judge as check
from kgroups.model.health.limits import Limits
from kgroups.model.health.trend import suspects
from kgroups.model.offsets import place_name
from kgroups.model.operations.commit_history import STUCK_AFTER, History
from kgroups.model.operations.committing import RecentCommits
from kgroups.model.rates import SAME, USUAL, Pace, Place, pace_of, reading_of, unbroken
from kgroups.model.record import RecordDetails
from kgroups.model.severity import Minimum, Severity, Threshold
from kgroups.model.status import Status, judge_status
from kgroups.model.verdicts.facts import OpenTransaction, PartitionFacts
from kgroups.model.verdicts.judge import REPEATS, needs_pace
from kgroups.model.verdicts.judge import judge as explain
from kgroups.model.verdicts.verdict import Key, Verdict
from kgroups.model.views.lag_rows import GroupLagRow
from kgroups.model.views.lag_summary import Ages, By, shares
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import offset_rows
from kgroups.watch.state.group_samples import GroupSample, PolledGroup, sample, sample_logs
from kgroups.watch.state.log_ends import LogEnds
from kgroups.watch.state.watching import RATED, SAMPLED, Watch, WatchRow

from .world import BEGAN, NODE, TICK, Truth, World

EVERY = 4
"""Ticks between two moments, and refreshes of watch."""
POLL = 8
"""Ticks between two polls of the exporter, and samples of a trend."""
WINDOW = 10
SHORT = 3
"""Samples of a short trend: 8 s, less than the time between two commits of many members."""
UNREADABLE = "missing permission READ on topic __consumer_offsets"
SLACK = 20_000
"""Milliseconds of a time to catch up: consumers commit every 12 s at most, and refreshes take 2 s."""
LAG, AGE = 500, 20_000
RETAINED, ROOM = 60_000, 30_000
LIMITS = Limits(
    lag=Threshold(LAG, LAG),
    time_lag=Threshold(AGE, AGE),
    headroom=Minimum(ROOM, ROOM),
    trend=True,
    stopped=True,
    assigned=True,
)
_DELETED = Policy(True, False, RETAINED, None, 1_000, 1 << 30)


class Contradiction(NamedTuple):
    judge: str
    said: object
    truth: object
    seed: int
    now: int


class Tally:
    """What judges said: numbers of verdicts, of those that are unknown, and the contradictions."""

    def __init__(self) -> None:
        self.moments = 0
        self.said: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.calm: Counter[str] = Counter()
        self.calm_unknown: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.wrong: list[Contradiction] = []

    def add(self, world: World, judge: str, verdict: object, *, known: bool, wrong: object = None) -> None:
        """Add a verdict.

        :param wrong: what is true instead.
        """
        self.said[judge] += 1
        self.unknown[judge] += not known
        if world.suffices:
            self.calm[judge] += 1
            self.calm_unknown[judge] += not known
        self.verdicts[f"{judge} {verdict if isinstance(verdict, str) else ''}"] += 1
        if known and wrong:
            self.wrong.append(Contradiction(judge, verdict, wrong, world.now and id(world), world.now))


def play(seed: int, ticks: int, tally: Tally) -> None:
    """Let a world pass, and judge it every two seconds."""
    world, watch, ends = World(seed), Watch(), LogEnds()
    looks: list[tuple[int, GroupOffsets]] = []
    seen: list[Seen] = []
    watched: list[dict[Place, Truth]] = []
    last: GroupSample | None = None
    before = len(tally.wrong)
    for tick in range(ticks):
        world.step()
        offsets = world.offsets()
        looks = [*looks[-22:], (world.now, offsets)]
        if tick % POLL == 0:
            seen = [*seen[1 - WINDOW :], _seen(world, offsets)]
            last = _exporter(world, offsets, ends, last, tally)
        if tick % EVERY == 0:
            tally.moments += 1
            watched = [*watched[1 - SAMPLED :], world.kept[-1]]
            _totals(world, offsets, tally)
            _check(world, [*seen[:-1], _seen(world, offsets)], tally)
            if len(seen) > SHORT:
                _trends(world, [*seen[-SHORT:-1], _seen(world, offsets)], tally)
            _watch(world, watch, offsets, watched, tally)
            _explain(world, offsets, looks, tally)
    tally.wrong[before:] = [each._replace(seed=seed) for each in tally.wrong[before:]]


def _rows(offsets: GroupOffsets) -> list[OffsetRow]:
    return [row for share in shares(offsets, By.GROUP) for row in share.rows]


def lags_of(world: World, committed: Mapping[Place, int]) -> dict[Place, int | None]:
    """Return how much is unread after each of the offsets; ``None`` if the log cannot be read."""
    found: dict[Place, int | None] = {}
    for place, at in committed.items():
        if not world.is_used(place[0]):
            continue
        log = world.log(place)
        found[place] = None if log is None or log.down else max(0, log.end - at)
    return found


def never_committed(world: World, committed: Mapping[Place, int]) -> list[Place]:
    """Return the partitions of the group's topics that have records, but no commit.

    Brokers report subscriptions only of groups that are Stable: others have the topics with commits.
    """
    topics = {place[0] for place in committed if world.is_used(place[0])}
    if world.state == "Stable":
        topics |= {each.topic for each in world.members.values()} | {topic for topic, _ in world.owners}
    return [
        (topic, number)
        for topic, logs in world.topics.items()
        for number in logs
        if topic in topics and (topic, number) not in committed and world.size((topic, number))
    ]


def total_is_wrong(world: World, total: int | None) -> str | None:
    """Return what is true instead of the total lag that a principal can see."""
    lags = lags_of(world, world.visible)
    unknown = [place for place, lag in lags.items() if lag is None]
    unknown += [place for place in never_committed(world, world.visible) if place[0] not in world.hidden]
    true = sum(filter(None, lags.values()))
    return f"{true} {unknown}" if total is not None and (unknown or total != true) else None


def _totals(world: World, offsets: GroupOffsets, tally: Tally) -> None:
    (share,) = shares(offsets, By.GROUP)
    row = share.row()
    assert isinstance(row, GroupLagRow) and row.status
    wrong = _against_status(world, Status(row.status), row.total_lag)
    tally.add(world, "lag STATUS", row.status, known=row.status != Status.UNKNOWN, wrong=wrong and f"{wrong} {row}")
    known = row.total_lag is not None or not lags_of(world, world.visible)
    tally.add(world, "total lag", row.total_lag, known=known, wrong=total_is_wrong(world, row.total_lag))


def _against_status(world: World, status: Status, total: int | None) -> str | None:
    """Return what is true instead of the status that one sample shows."""
    used = [(at, log) for place, at in world.visible.items() if world.is_used(place[0]) and (log := world.log(place))]
    left = [
        (at, log) for place, at in world.visible.items() if not world.is_used(place[0]) and (log := world.log(place))
    ]
    topics = {topic for topic, _ in world.visible} | {each.topic for each in world.members.values()}
    free = {(topic, number) for topic in topics & world.topics.keys() for number in world.topics[topic]}
    true = {
        Status.DATA_LOST: any(at < log.start for at, log in used),
        Status.BEYOND_LOG_END: any(at > log.end for at, log in used),
        Status.NOT_ASSIGNED: world.state == "Stable" and not free <= world.owners.keys(),
        Status.NO_MEMBER: not world.members and any(at < log.end for at, log in used),
        Status.NOT_SUBSCRIBED: any(at < log.end for at, log in left),
        Status.REBALANCING: world.state == "PreparingRebalance",
        Status.LAGGING: any(at < log.end for at, log in used),
        Status.UNKNOWN: total is None,
        Status.OK: total == 0 and not total_is_wrong(world, total) and all(at >= log.end for at, log in left),
    }
    return None if true.get(status) else f"{status} {world.state} {used}"


def _seen(world: World, offsets: GroupOffsets) -> Seen:
    unread = {}
    for row in offset_rows(offsets):
        at = _position(row) if row.topic is not None else None
        log = world.log((at.topic, at.partition)) if at else None
        if at and log:
            unread[at] = log.first_readable(at.offset)
    committed_at = {place: made[-1][0] for place, made in world.commits.items() if made and place in world.committed}
    # Offsets in transactions are reported only of partitions with a commit; their records show the others.
    outsiders = "commits" if world.outsider or world.pending.keys() - world.visible.keys() else None
    ages = Ages(unread, world.now, Retention(dict.fromkeys(world.topics, _DELETED)))
    if world.unreadable:
        return Seen(offsets, world.now, ages, {}, UNREADABLE, outsiders=outsiders)
    return Seen(offsets, world.now, ages, committed_at, commits_before=BEGAN, outsiders=outsiders)


def _proven(world: World, seen: list[Seen]) -> list[Seen]:
    """Add what is found out after the last sample."""
    asked = {place: (log, at) for place, at in suspects(seen).items() if (log := world.log(place))}
    proofs = {
        place: Proof(log.unread(at.offset) > 0, first=log.first_readable(at.offset))
        for place, (log, at) in asked.items()
    }
    histories = {place: History(world.commits.get(place, ()), world.changes) for place in proofs}
    unread = UNREADABLE if world.unreadable else None
    last = seen[-1]._replace(proofs=proofs, histories={} if unread else histories, histories_unread=unread)
    return [*seen[:-1], last]


def _trends(world: World, seen: list[Seen], tally: Tally) -> None:
    """Judge progress in a window that may be shorter than the time between two commits."""
    for finding in check(_proven(world, seen), Limits(trend=True)):
        if finding.check == "trend":
            said = finding.message.split(" ")[0]
            wrong = _trend(world, said, seen, finding.message)
            known = finding.severity is not Severity.UNKNOWN
            tally.add(world, "short trend", said, known=known, wrong=wrong and f"{wrong}: {finding}")


def _check(world: World, seen: list[Seen], tally: Tally) -> None:
    seen = _proven(world, seen)
    for finding in check(seen, LIMITS):
        said = finding.severity.name
        wrong = against_check(world, finding.check, finding.severity)
        if finding.check == "trend":
            said = finding.message.split(" ")[0]
            wrong = _trend(world, said, seen, finding.message) if len(seen) > 2 else None
        known = finding.severity is not Severity.UNKNOWN
        tally.add(world, f"check --{finding.check}", said, known=known, wrong=wrong and f"{wrong}: {finding}")


def against_check(world: World, check: str, severity: Severity, old: int | None = None) -> str | None:
    """Return what is true instead of the severity of a rule.

    :param old: the limit of the time lag if the times of records, not those of appends, are true.
    """
    rule = _RULES.get(check)
    wrong = rule and rule(world, severity, old)
    return str(wrong) if wrong else None


def _against_lag(world: World, severity: Severity, _: int | None) -> object:
    lags, more = lags_of(world, world.committed), never_committed(world, world.committed)
    most = sum(filter(None, lags.values()))
    if severity is Severity.CRITICAL:
        return most <= LAG and not (_ahead(world) or _lost(world)) and lags  # these are other problems
    well = not (most > LAG or None in lags.values() or more or _lost(world))
    return severity is Severity.OK and not well and (most, more, lags)


def _against_time_lag(world: World, severity: Severity, old: int | None) -> object:
    lost = _lost(world)
    if old is not None:
        stamped = lost or _stamped(world, old, uncommitted=True)
        return (severity is Severity.OK and stamped) or (severity is Severity.CRITICAL and not stamped and "not old")
    if severity is Severity.CRITICAL:
        wrong_clocks = min(world.clocks) < -1000 or max(world.clocks) > 1000  # the age is that of the record's own time
        return not (lost or wrong_clocks or _old(world, AGE - TICK)) and "not old"
    return severity is Severity.OK and (lost or _old(world, AGE + TICK))


def _against_headroom(world: World, severity: Severity, _: int | None) -> object:
    lost, oldest = _lost(world), RETAINED - ROOM
    if severity is Severity.CRITICAL:
        return not (lost or max(world.clocks) > 1000 or _stamped(world, oldest - TICK)) and "not old"
    return severity is Severity.OK and (lost or _stamped(world, oldest + TICK))


def _against_stopped(world: World, severity: Severity, _: int | None) -> object:
    used = bool(world.members or world.outsider or world.pending)
    if severity is Severity.UNKNOWN or (severity is Severity.OK) is not used:
        return None
    return world.members, world.outsider, world.pending


def _against_assigned(world: World, severity: Severity, _: int | None) -> object:
    topics = {each.topic for each in world.members.values()}
    free = [p for p in world.kept[-1] if p[0] in topics and p not in world.owners]
    return severity is Severity.OK and world.state == "Stable" and (free or world.strays)


_RULES: Mapping[str, Callable[[World, Severity, int | None], object]] = {
    "lag": _against_lag,
    "time-lag": _against_time_lag,
    "headroom": _against_headroom,
    "stopped": _against_stopped,
    "assigned": _against_assigned,
}


def _ahead(world: World) -> bool:
    return any(at > log.end for place, at in world.committed.items() if (log := world.log(place)))


def _lost(world: World) -> list[Place]:
    """Return the partitions with unread records that were deleted."""
    return [
        place
        for place, at in world.committed.items()
        if world.is_used(place[0]) and (log := world.log(place)) and not log.down and at < log.start
    ]


def _stamped(world: World, age: int, *, uncommitted: bool = False) -> list[Place]:
    """Return the partitions whose first unread record has a time before this age."""
    found = []
    for place, at in world.committed.items():
        log = world.log(place)
        if log is None or log.down or not world.is_used(place[0]):
            continue
        stamp = log.first_readable(at, uncommitted=uncommitted).timestamp
        if stamp is not None and world.now - stamp > age:
            found.append(place)
    return found


def _old(world: World, age: int) -> list[Place]:
    """Return the partitions with a readable record that was appended before this age."""
    return [
        place
        for place, each in world.kept[-1].items()
        if place in world.committed
        and world.is_used(place[0])
        and each.appended is not None
        and world.now - each.appended > age
        and not world.topics[place[0]][place[1]].down
    ]


def _trend(world: World, word: str, seen: Sequence[Seen], message: str) -> str | None:
    """Return what is true instead of the worst verdict of a trend; the verdict needs one partition that has it."""
    span = (seen[-1].now - seen[0].now) // TICK
    kept = world.kept[-span - 1 :]
    places = [p for p in kept[-1] if p in world.visible and p in kept[0] and world.is_used(p[0])]
    if word != "OK":
        named = [p for p in kept[-1] if place_name(*p) in message]
        if named and not any(world.is_used(topic) for topic, _ in named):
            return f"not used: {named}"
        places = [p for p in places if p in named]
        if not places:
            return None
    sampled = [each.now for each in seen]
    reasons = []
    for place in places:
        truths = [each[place] for each in kept if place in each]
        first, last = truths[0], truths[-1]
        at = [each for each in truths if each.now in sampled]
        commits = _committed(world, place, truths, word)
        offsets = [each.committed for each in at if each.committed is not None]
        back = any(
            before.life == now.life and (now.committed or 0) < (before.committed or 0) for before, now in pairwise(at)
        )
        stuck = (
            all(each.unread for each in truths)
            and last.advanced_at <= first.now
            and not (commits and last.consumed > first.consumed)
            and len({t.life for t in truths}) == 1
        )
        reasons.append((place, commits, offsets, back, stuck, first, last))
    if word == "OK" and any(stuck for *_, stuck, _, _ in reasons):
        return f"stuck {[each for each in reasons if each[4]]}"
    if word == "STOP" and all(commits for _, commits, *_ in reasons):
        return f"commits {reasons}"
    if word == "STALL" and all(len(set(offsets)) > 1 or not commits for _, commits, offsets, *_ in reasons):
        return f"changed {reasons}"
    if word == "REWIND" and not any(back for _, _, _, back, *_ in reasons):
        return f"not back {reasons}"
    if word == "WARN" and not any(
        _grew(world, place, first, last) or _burst(kept, place, commits) for place, commits, *_, first, last in reasons
    ):
        return f"did not grow {reasons}"
    return None


def _grew(world: World, place: Place, first: Truth, last: Truth) -> bool:
    """Return whether the backlog grew until now or the last commit, or records were lost."""
    then = _at(world, place, last.now) or last
    return max(last.backlog, then.backlog) > first.backlog or world.lost_at > first.now


def _committed(world: World, place: Place, truths: Sequence[Truth], word: str) -> list[int]:
    """Return the times of commits in the window; for STOP, also that of the last progress of a client that works."""
    made = [t for t, _ in world.commits.get(place, ()) if truths[0].now < t <= truths[-1].now]
    return [*made, truths[-1].advanced_at] if word == "STOP" and _works(world, place, truths) else made


def _works(world: World, place: Place, truths: Sequence[Truth]) -> bool:
    """Return whether a client has read since its last commit, and has advanced."""
    first, last, kept = truths[0], truths[-1], world.kept
    since = min(first.now, last.changed_at)
    return (
        place in kept[0]
        and kept[0][place].now <= since
        and all(each[place].read for each in kept if place in each and each[place].now >= since)
        and first.now < last.advanced_at
        and first.life == last.life
    )


def _burst(kept: Sequence[Mapping[Place, Truth]], place: Place, commits: Sequence[int]) -> bool:
    """Return whether producers wrote at more than twice their average rate since the last commit."""
    truths = [each[place] for each in kept if place in each]
    then = next((each for each in truths if commits and each.now >= commits[-1]), truths[0])
    first, last = truths[0], truths[-1]
    return (last.produced - then.produced) * (last.now - first.now) > 2 * (last.produced - first.produced) * (
        last.now - then.now
    )


def _at(world: World, place: Place, now: int) -> Truth | None:
    """Return the truth at the last commit before a time, whose lag is judged, or without members at that time."""
    commits = [at for at, _ in world.commits.get(place, ()) if at <= now]
    then = max(commits[-1] if commits and world.members else now, world.now - (len(world.kept) - 1) * TICK)
    return world.kept[(then - world.now) // TICK - 1].get(place)


def _direction(world: World, place: Place, pace: Pace, *, grew: bool) -> str | None:
    """Return what is true instead of a direction over the span of a pace."""
    first, last = _at(world, place, pace.since), _at(world, place, pace.until)
    if first is None or last is None or first.life != last.life:
        return f"another topic {first} {last}"
    if first.moves != last.moves:
        return f"moved {first} {last}"
    change = last.backlog - first.backlog
    if not (last.advanced_at > first.now or grew) or (change <= 0 if grew else change >= 0):
        return f"changed by {change}, read {last.read} {first} {last}"
    return None


def _is_usual(world: World, place: Place, pace: Pace | None) -> bool:
    """Return whether no unread entry is older than 10 s, or members read it, as at two commits, in twice that."""
    log = world.topics[place[0]][place[1]]
    appended = log.appended(world.committed[place])
    if appended is None or world.now - appended <= USUAL * 1000:
        return True
    first, last = (_at(world, place, at) for at in (pace.since, pace.until)) if pace else (None, None)
    if first is None or last is None or first.life != last.life or first.moves != last.moves:
        return False
    seconds = (last.now - first.now) / 1000
    now = log.end - world.committed[place]
    return max(first.backlog, last.backlog, now) * seconds <= 2 * USUAL * (last.consumed - first.consumed)


def _is_same(world: World, place: Place, pace: Pace) -> bool:
    """Return whether the backlogs at two commits differ by a fifth at most."""
    first, last = _at(world, place, pace.since), _at(world, place, pace.until)
    if first is None or last is None or first.life != last.life or first.moves != last.moves:
        return False
    return abs(last.backlog - first.backlog) <= 2 * SAME * max(first.backlog, last.backlog)


def _time_left(world: World, place: Place, pace: Pace, backlog: int) -> float:
    """Return the true milliseconds until this backlog is caught up."""
    first, last = _at(world, place, pace.since), _at(world, place, pace.until)
    assert first and last
    return backlog * (pace.until - pace.since) / max(1, first.backlog - last.backlog)


def _watch(
    world: World, watch: Watch, offsets: GroupOffsets, watched: Sequence[Mapping[Place, Truth]], tally: Tally
) -> None:
    (row,) = watch.add(world.now, [offsets])
    truths = [next(iter(each.values())).now if each else 0 for each in watched]
    oldest = {place: truth for each in reversed(watched) for place, truth in each.items()}
    for name, rate, field in (("IN/S", row.rate_in, "produced"), ("OUT/S", row.rate_out, "consumed")):
        spans = []
        for back in range(2, min(RATED, len(watched)) + 1):
            first, last = watched[-back], watched[-1]
            places = [p for p in world.visible if p in last and world.is_used(p[0])]
            seconds = (truths[-1] - truths[-back]) / 1000
            spans.append(
                sum(getattr(last[p], field) - getattr(first.get(p, oldest[p]), field) for p in places) / seconds
            )
        wrong = rate is not None and not any(abs(rate - each) < 1e-6 for each in spans) and (rate, spans)
        tally.add(
            world, f"watch {name}", "", known=rate is not None or len(watched) < 3 or not world.visible, wrong=wrong
        )
    (sampled,) = (watch.samples_of("g"),)
    readings = unbroken([each.reading for each in sampled])
    places = [(topic, number) for topic, numbers in readings[-1].places for number in numbers]
    paces = {place: pace for at, place in enumerate(places) if (pace := pace_of(readings, at))}
    behind = [p for p in places if (log := world.log(p)) and log.end > world.committed[p]]
    bad = {p: _direction(world, p, paces[p], grew=False) if p in paces else f"{p} unknown" for p in behind}
    usual = {p for p in behind if _is_usual(world, p, paces.get(p))}
    wrong = None
    if row.catch_up_ms:
        wrong = [each for p, each in bad.items() if each and p not in usual]
        if not wrong:
            lags = lags_of(world, world.visible)
            times = {p: _time_left(world, p, paces[p], lags[p] or 0) for p in behind if not bad[p]}
            least = max((time for p, time in times.items() if p not in usual), default=0)
            most = max(times.values(), default=0)
            if not least / 2 - SLACK <= row.catch_up_ms <= most * 2 + SLACK:
                wrong = [f"{row.catch_up_ms} not {times}"]
    elif row.falls_behind and world.members:
        wrong = all(p not in paces or _direction(world, p, paces[p], grew=True) for p in behind) and str(paces)
    elif row.steady:
        same = {p for p in behind if p in paces and _is_same(world, p, paces[p])}
        wrong = [f"{p} {each}" for p, each in bad.items() if p not in usual | same and (each or not same)]
        wrong = wrong or (not world.members and "nobody reads")
    never = "never" if row.falls_behind else "steady" if row.steady else "unknown"
    said = never if row.catch_up_ms is None else "time" if row.catch_up_ms else "0"
    tally.add(world, "watch CATCH-UP", said, known=said != "unknown", wrong=wrong and f"{wrong} {row}")
    _status(world, watch, offsets, row, {p for p in behind if p not in usual}, tally)


def _status(
    world: World, watch: Watch, offsets: GroupOffsets, row: WatchRow, unusual: set[Place], tally: Tally
) -> None:
    """Judge the status of watch.

    :param unusual: the partitions with an unusual lag.
    """
    (share,) = shares(offsets, By.GROUP)
    one, status = judge_status(share.known(share.tally())), row.status.status
    wrong: object = None
    if status is Status.OK and one.status is not Status.OK:
        at = unbroken_at(watch)
        began = next((kept for kept in world.kept if kept and next(iter(kept.values())).now >= at), {})
        truths = [(p, world.kept[-1][p], began[p]) for p in world.visible if p in began and p in world.kept[-1]]
        wrong = sorted(unusual) + [
            p for p, now, then in truths if now.end > (now.committed or 0) and now.consumed == then.consumed
        ]
    elif status not in (Status.OK, Status.CATCHING_UP, Status.FALLING_BEHIND, Status.STEADY):
        wrong = row.status != one and f"not {one}"
    elif status is not Status.OK and one.status not in (Status.LAGGING, Status.REBALANCING):
        wrong = f"not {one}"
    known = status not in (Status.UNKNOWN, Status.LAGGING)
    tally.add(world, "watch STATUS", status.value, known=known, wrong=wrong and f"{wrong} {row}")


def unbroken_at(watch: Watch) -> int:
    """Return the time of the first reading that the newest ones continue."""
    began = watch._groups["g"].began
    assert began
    return began.at


def _exporter(
    world: World, offsets: GroupOffsets, ends: LogEnds, last: GroupSample | None, tally: Tally
) -> GroupSample:
    logs = sample_logs(offsets.logs)
    known = (((each.topic, each.partition), each.end) for each in logs if each.end is not None)
    ends.add(world.now / 1000, known, offsets.logs.topic_ids)
    found = sample(PolledGroup(offsets, world.now, Ages({}, 0)), ends, last, 3600)
    known = found.total_lag is not None or not lags_of(world, world.visible)
    wrong = not found.stale and total_is_wrong(world, found.total_lag)
    tally.add(world, "exporter total lag", "", known=known, wrong=wrong and f"{wrong} {found}")
    for each in found.partitions:
        place = each.topic, each.partition
        truth, log = world.kept[-1].get(place), world.log(place)
        if truth is None or log is None or log.down:
            continue
        wrong = each.lag is not None and each.lag != log.end - world.committed[place] and f"{truth} {each}"
        tally.add(world, "exporter lag", "", known=each.lag is not None, wrong=wrong)
        appended = log.appended(world.committed[place])
        if each.unread_since is not None and appended is not None:
            wrong = (
                abs(each.unread_since * 1000 - appended) > 5 * POLL * TICK + (world.now - appended) / 4
                and f"{appended} {each}"
            )
            tally.add(world, "exporter lag seconds", "", known=True, wrong=wrong)
        if each.unchanged_since is not None:
            wrong = (
                each.unchanged_since * 1000 < truth.changed_at - POLL * TICK and truth.moves < 2 and f"{truth} {each}"
            )
            tally.add(world, "exporter unchanged", "", known=True, wrong=wrong)
    return found


def _gathered(world: World, rows: Sequence[OffsetRow]) -> _Gathered:
    """Return the answers of the cluster as the admin layer gathers them."""
    found = _Gathered()
    found.now = world.now
    for row in rows:
        place = row.topic or "", row.partition or 0
        log, at = world.log(place), _position(row)
        if log is None or log.down:
            continue
        found.leaders[place] = NODE
        found.stable[place] = log.stable
        if log.open_at is not None:
            found.transactions = {**found.transactions, place: (OpenTransaction(7, log.open_at, world.now - 1_000),)}
        if at:
            unread = log.first_readable(at.offset)
            found.unread = {**found.unread, at: unread}
            if unread.offset is not None:
                found.records[at] = RecordDetails(
                    unread.offset, unread.timestamp, None, b"x", (), 1, 60, unread.offset, None
                )
    if world.unreadable:
        found.commits = RecentCommits({}, {"g": UNREADABLE})
        return found
    made = {place: list(each) for place, each in world.commits.items() if place in world.committed}
    stays = {"g": list(world.stays.values())}
    found.commits = RecentCommits({"g": made}, changed={"g": list(world.changes)}, stays=stays)
    return found


def _explain(world: World, offsets: GroupOffsets, looks: Sequence[tuple[int, GroupOffsets]], tally: Tally) -> None:
    rows = [row for row in _rows(offsets) if row.topic is not None]
    gathered = _gathered(world, rows)
    for row in rows:
        place = row.topic or "", row.partition or 0
        if world.log(place) is None:
            continue
        facts: PartitionFacts = _facts(offsets, row, gathered, {})
        if needs_pace(facts):
            readings = [r for at, each in looks if (r := reading_of(at, *each[:3], place))]
            facts = facts._replace(pace=pace_of(unbroken(readings)) if readings else None)
        verdict = explain(facts)
        wrong = _verdict(world, place, facts, verdict)
        known = verdict.key is not Key.UNKNOWN or facts.end is None
        tally.add(world, "explain --partition", str(verdict.key), known=known, wrong=wrong and f"{wrong} {verdict}")


def against_key(world: World, place: Place, key: Key, *, owned: bool) -> str | None:
    """Return what is true instead of a verdict that is not about a direction."""
    truth, log = world.kept[-1][place], world.topics[place[0]][place[1]]
    committed = truth.committed
    at = committed if committed is not None else log.start
    fresh = min((world.now - each for each in (truth.changed_at, truth.appended) if each is not None), default=0)
    past = min(world.clocks) < -1_000  # such a record is as old as it says
    repeats = sum(to == committed and time >= (truth.appended or 0) for time, to in world.commits.get(place, ()))
    wrong = {
        Key.MISSING_PARTITION: True,
        Key.LEADERLESS: not log.down,
        Key.LEADER_UNRESPONSIVE: not log.down,
        Key.RECREATED_TOPIC: truth.life == 1,
        Key.BELOW_LOG_START: at >= log.start,
        Key.BEYOND_LOG_END: at <= log.end,
        Key.TRUNCATED_LOG: True,  # no log is truncated
        Key.CAUGHT_UP: log.unread(at) > 0,
        Key.NO_UNREAD_RECORDS: log.unread(at) > 0 or log.open_at is not None,
        Key.CRASH_LOOP: not any(time > truth.changed_at for time in world.left),
        Key.UNASSIGNED: truth.read and (bool(world.members) or len(world.outsider_commits(place)) > 1),
        Key.REBALANCING: world.state == "Stable",
        Key.NEVER_COMMITTED: committed is not None,
        Key.OPEN_TRANSACTION: log.open_at is None,
        Key.SAME_OFFSET_COMMITTED: not past and (repeats < REPEATS or truth.appended is None),
        Key.NOT_COMMITTING: not past and fresh < STUCK_AFTER - TICK,
        Key.PROGRESSING: not truth.read
        and (fresh > 3 * STUCK_AFTER if owned else not world.had_outsider and world.age > 2 * STUCK_AFTER),
    }.get(key)
    if wrong:
        return f"{truth} start {log.start} end {log.end} open {log.open_at} state {world.state}"
    return None


def _verdict(world: World, place: Place, facts: PartitionFacts, verdict: Verdict) -> str | None:
    if wrong := against_key(world, place, verdict.key, owned=facts.owner is not None):
        return f"{wrong} {facts}"
    pace, key = facts.pace, verdict.key
    if key in (Key.FALLING_BEHIND, Key.THROTTLED, Key.CATCHING_UP) and pace is not None:
        if direction := _direction(world, place, pace, grew=key is not Key.CATCHING_UP):
            return direction
        left, then = pace.catch_up(pace.lag), _at(world, place, pace.until)
        true = _time_left(world, place, pace, then.backlog) if then else 0
        if left and not true / 2 - SLACK <= left <= true * 2 + SLACK:
            return f"{left} not {true}"
    return None


def report(tally: Tally) -> Iterator[str]:
    """Yield lines with the numbers of a run."""
    yield f"{tally.moments:,} moments, {sum(tally.said.values()):,} verdicts, {len(tally.wrong):,} contradictions"
    for judge, said in sorted(tally.said.items()):
        calm = tally.calm[judge]
        share = f", {tally.calm_unknown[judge] / calm:.1%} where evidence suffices" if calm else ""
        yield f"  {judge}: {said:,}, unknown {tally.unknown[judge] / said:.1%}{share}"
    for judge, count in sorted(Counter(each.judge for each in tally.wrong).items()):
        yield f"  CONTRADICTED {judge}: {count:,}"
