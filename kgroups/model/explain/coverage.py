"""Partitions without members, members without partitions, and comparison with the result of the assignor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import compress

from kgroups.model.assignors.shape import TopicPartition
from kgroups.model.groups import GroupState, Member
from kgroups.model.lag import EPOCH_AHEAD
from kgroups.model.offsets import place_name
from kgroups.model.shell import group_words_in_text, shell
from kgroups.model.subscriptions import left_topics, not_owners

from ..counts import SHOWN, count, some
from .facts import GroupFacts, subscribed_topics
from .findings import Finding, info, problem, warning
from .participants import assignor_of, could_hold, current, participants_of, run_to_fixed_point


def _fixes(facts: GroupFacts, names: list[str]) -> str:
    places = "".join(f" --topic {shell(':'.join(name.rsplit('-', 1)))}" for name in names)
    command = f"kgroups reset-offsets {group_words_in_text(facts.group.group)}{places}"
    return f"to read from the log start: {command} --to-earliest --execute; to keep the offsets, use --to-current"


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.epochs_ahead:
        names = _names(sorted(facts.epochs_ahead))
        text = f"committed offsets of {count(len(names), 'partition')} are invalid: {some(names)}: {EPOCH_AHEAD}"
        yield problem("leader-epochs-ahead", f"{text}; {_fixes(facts, names)}", names)
    yield from _left(facts)
    if not facts.of_consumers or not facts.has_subscriptions:
        return
    subscribed = {topic for member in facts.members for topic in subscribed_topics(facts, member)}
    yield from _missing_topics(facts, subscribed)
    every = [(topic, number) for topic in sorted(subscribed & facts.topics.keys()) for number in _numbers(facts, topic)]
    claims = Counter(pair for member in facts.members for pair in member.assignment.pairs())
    yield from _claimed_twice(facts, claims)
    yield from _claimed_but_gone(facts, claims)
    yield from _not_owners(facts)
    opaque = [member for member in facts.members if member.assignment.raw]
    if opaque:
        yield _undecoded(facts, opaque)
    else:
        yield from _without_member(facts, every, claims)
        yield from _as_the_assignor_gives(facts)
    yield from _idle(facts, len(every))


def _left(facts: GroupFacts) -> Iterator[Finding]:
    """Yield a finding about topics with commits that the group has left."""
    commits = facts.commits.topics if facts.commits else {}
    if left := sorted(left_topics(facts.group, commits)):
        partitions = sum(len(commits[topic]) for topic in left)
        options = " ".join(f"--topic {shell(topic)}" for topic in left[:SHOWN])
        unread = f"; {text}" if facts.lag and (text := facts.lag.known.left.text("there")) else ""
        yield warning(
            "left-topics",
            f"no member subscribes to {_topics(left)} with committed offsets on {count(partitions, 'partition')}: "
            f"{some(left)}{unread}: a consumer is missing, or the group no longer reads them; brokers delete the "
            "offsets after their retention although the group has members; if they are not needed: "
            f"kgroups delete-offsets {group_words_in_text(facts.group.group)} {options}",
            left,
        )


def _not_owners(facts: GroupFacts) -> Iterator[Finding]:
    nonsubscribers = not_owners(facts.group)
    names = sorted(
        place_name(*pair)
        for member in facts.members
        for pair in member.assignment.pairs()
        if (member.member_id, pair[0]) in nonsubscribers
    )
    if names:
        yield problem(
            "not-subscribed-owners",
            f"{count(len(names), 'partition')} assigned to a member that does not subscribe to the topic: "
            f"{some(names)}: a static member that joins with another subscription keeps its old assignment until the "
            "next rebalance, which kgroups remove-members triggers",
            names,
        )


def _undecoded(facts: GroupFacts, opaque: list[Member]) -> Finding:
    names = [member.member_id for member in opaque]
    reason = opaque[0].assignment.raw.reason if opaque[0].assignment.raw else ""
    return warning(
        "undecoded-assignments",
        f"the assignment of {len(names):,} of {count(len(facts.members), 'member')} cannot be decoded "
        f"({some(names)}: {reason}): unassigned partitions are unknown",
        names,
    )


def _numbers(facts: GroupFacts, topic: str) -> range:
    return range(facts.topics[topic].partitions)


def _missing_topics(facts: GroupFacts, subscribed: set[str]) -> Iterator[Finding]:
    missing = sorted(subscribed & facts.missing)
    if missing:
        text = f"members subscribe to {_topics(missing)} that {_do(missing)} not exist: {some(missing)}"
        yield warning("missing-topics", text, missing)
    undescribed = sorted(subscribed & facts.undescribed)
    if undescribed:
        text = f"{_topics(undescribed)} could not be described: {some(undescribed)}"
        yield warning("untold-topics", text, undescribed)


def _do(names: list[str]) -> str:
    return "does" if len(names) == 1 else "do"


def _topics(names: list[str]) -> str:
    return count(len(names), "topic")


def _names(pairs: list[TopicPartition]) -> list[str]:
    return [place_name(topic, number) for topic, number in pairs]


def _claimed_twice(facts: GroupFacts, claims: Counter[TopicPartition]) -> Iterator[Finding]:
    twice = _names(sorted(pair for pair, owners in claims.items() if owners > 1))
    if twice:
        yield problem(
            "claimed-twice",
            f"{count(len(twice), 'partition')} assigned to more than one member: {some(twice)}: records are read twice",
            twice,
        )


def _claimed_but_gone(facts: GroupFacts, claims: Counter[TopicPartition]) -> Iterator[Finding]:
    gone = _names(
        sorted(
            (topic, number)
            for topic, number in claims
            if topic in facts.missing or (topic in facts.topics and number not in _numbers(facts, topic))
        )
    )
    if gone:
        yield problem(
            "held-but-gone",
            f"{count(len(gone), 'partition')} assigned to members {_do(gone)} not exist: {some(gone)}: the topic was "
            "deleted, or recreated with fewer partitions",
            gone,
        )


def _without_member(
    facts: GroupFacts, every: list[TopicPartition], claims: Counter[TopicPartition]
) -> Iterator[Finding]:
    unassigned = [pair for pair in every if pair not in claims]
    if not unassigned:
        return
    names, text = (
        _names(unassigned),
        f"{count(len(unassigned), 'partition')} not assigned to any member: {some(_names(unassigned))}",
    )
    targets = {pair for member in facts.members if member.target for pair in member.target.pairs()}
    if all(pair in targets for pair in unassigned) or facts.group.state in GroupState.REBALANCING:
        yield warning("without-member", f"{text}: a rebalance is in progress", names)
    else:
        why = "partitions were added to the topic, and the members' metadata is older; or the assignor has a bug"
        yield problem("without-member", f"{text}: {why}", names)


def _idle(facts: GroupFacts, partitions: int) -> Iterator[Finding]:
    # Members with a target assignment wait for it, which the rule about reconciliation reports.
    every = [
        member for member in facts.members if member.assignment.size == 0 and not (member.target and member.target.size)
    ]
    topicless = [could_hold(facts, member) == 0 for member in every]
    if any(topicless):
        yield _without_topics(facts, list(compress(every, topicless)))
    idle = [member.member_id for member, nothing in zip(every, topicless, strict=True) if not nothing]
    if not idle:
        return
    verb = "has" if len(idle) == 1 else "have"
    text = f"{len(idle):,} of {count(len(facts.members), 'member')} {verb} no partitions ({some(idle)})"
    if len(facts.members) > partitions:
        why = f"there are fewer partitions than members ({partitions:,}), and each goes to one member only"
    elif facts.group.protocol == "range":
        why = "range assigns each topic separately, and no topic has as many partitions as the group has members"
    else:
        why = "all partitions of their topics are assigned to other members"
    yield warning("idle-members", f"{text}: {why}", idle)


def _without_topics(facts: GroupFacts, members: list[Member]) -> Finding:
    names = [member.member_id for member in members]
    expressions = sorted({member.subscription.regex for member in members if member.subscription.regex})
    if expressions:
        why = f"no topic that their principals can describe matches {some(list(map(repr, expressions)))}"
    elif any(member.subscription.topics for member in members):
        why = "no topic that they subscribe to exists"
    else:
        why = "they subscribe to no topic; those that subscribe to a pattern, report only topics that match it"
    verb = "has" if len(names) == 1 else "have"
    text = f"{len(names):,} of {count(len(facts.members), 'member')} {verb} nothing to read ({some(names)}): {why}"
    return warning("members-without-topics", text, names)


def _as_the_assignor_gives(facts: GroupFacts) -> Iterator[Finding]:
    """Run the assignor again: either nothing changes, or members have not yet seen a reason for change."""
    assign = assignor_of(facts, facts.group.protocol)
    undecoded = any(
        part.raw for member in facts.members for part in (member.subscription, member.target or member.assignment)
    )
    if assign is None or facts.group.state != GroupState.STABLE or facts.undescribed or undecoded:
        return
    now = current(facts)
    following, _ = run_to_fixed_point(assign, participants_of(facts), facts.topics)
    moved = [pair for member, pairs in following.items() for pair in sorted(set(pairs) - set(now[member]))]
    lost = {pair for pairs in now.values() for pair in pairs} - {pair for pairs in following.values() for pair in pairs}
    name = facts.group.protocol
    if lost:
        return  # already reported: partitions that do not exist, or that no member subscribes to
    if not moved:
        sizes = sorted(map(len, now.values()))
        yield info(
            "as-assigned",
            f"the assignment equals the result of running {name} again locally ({_spread(sizes)})",
        )
    else:
        yield warning(
            "would-move",
            f"running {name} again locally assigns {count(len(moved), 'partition')} to other members than now "
            f"({some(_names(moved))}): the next rebalance may move them",
            _names(moved),
        )


def _spread(sizes: list[int]) -> str:
    low, high = sizes[0], sizes[-1]
    return count(low, "partition") + " each" if low == high else f"{low:,} to {count(high, 'partition')} each"
