"""The state, the type, the assignor, and the members of a group, and whether other clients use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..counts import count
from ..groups import GroupState, GroupType, canonical_word
from ..severity import Severity
from ..views.lag_summary import pending_remark
from .check import Check, Evidence, Flag, Input, either
from .findings import Finding, Seen
from .values import parse_flag, parse_name, parse_whole, parse_words

UNSEEN = "unknown: a checkpoint does not show whether the query is running"


def parse_states(value: object) -> frozenset[str]:
    """Parse states.

    :raises ValueError: if a state is unknown; the message quotes it.
    """
    states = {word: canonical_word(word, GroupState.ALL) for word in parse_words(value)}
    for word, state in states.items():
        if state is None:
            raise ValueError(f"{word!r} is not a group state; use one of {', '.join(GroupState.ALL)}")
    return frozenset(filter(None, states.values()))


def _state(evidence: Evidence) -> Iterator[Finding]:
    states, state = evidence.limits.states, evidence.last.offsets.group.state
    if evidence.last.offsets.group.type == GroupType.SPARK:
        yield Finding(evidence.name, "state", Severity.UNKNOWN, UNSEEN)
        return
    yield either(evidence, "state", state in states, f"{state}", f"{'|'.join(sorted(states))} is expected")


STATE = Check(
    "state",
    "states",
    Flag("Require one of these states, comma-separated.", "STATES", repeated=True),
    "a state, or a list of states",
    parse_states,
    judge=_state,
    about_offsets=False,
)


def parse_type(value: object) -> str:
    """Parse a group type.

    :raises ValueError: if it is unknown.
    """
    found = canonical_word(value, GroupType.SHOWN) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r} is not a group type; use one of {', '.join(GroupType.SHOWN)}")
    return found


def _type(evidence: Evidence) -> Iterator[Finding]:
    expected, found = evidence.limits.type, evidence.last.offsets.group.type
    yield either(evidence, "type", found == expected, f"{found}", f"{expected} is expected")


TYPE = Check(
    "type",
    "type",
    Flag("Require this group type: classic, consumer, share, streams, or spark.", "TYPE"),
    "a type",
    parse_type,
    judge=_type,
    about_offsets=False,
)


def _assignor(evidence: Evidence) -> Iterator[Finding]:
    expected, found = evidence.limits.assignor, evidence.last.offsets.group.protocol
    if evidence.last.offsets.group.type == GroupType.SPARK:
        yield Finding(evidence.name, "assignor", Severity.UNKNOWN, "does not apply: Spark assigns the partitions")
        return
    yield either(evidence, "assignor", found == expected, found or "no assignor", f"{expected} is expected")


ASSIGNOR = Check(
    "assignor",
    "assignor",
    Flag("Require this assignor, such as range or uniform.", "NAME"),
    "a name",
    parse_name,
    judge=_assignor,
    about_offsets=False,
)


def _exactly(evidence: Evidence) -> Iterator[Finding]:
    expected_members = evidence.limits.members or 0
    yield _members(evidence, lambda found: found == expected_members, f"exactly {expected_members:,} expected")


def _at_least(evidence: Evidence) -> Iterator[Finding]:
    if evidence.limits.members is None:
        expected_members = evidence.limits.min_members or 0
        yield _members(evidence, lambda found: found >= expected_members, f"at least {expected_members:,} expected")


def _members(evidence: Evidence, is_well: Callable[[int], bool], expected: str) -> Finding:
    group = evidence.last.offsets.group
    if group.members is None:
        return Finding(
            evidence.name, "members", Severity.UNKNOWN, f"the members of {group.type} groups are not reported"
        )
    left = sum(member.has_left for member in group.members)
    found = len(group.members) - left
    message = count(found, "member") + (f", and {count(left, 'static member')} that left" if left else "")
    return either(evidence, "members", is_well(found), message, expected)._replace(value=found)


MEMBERS = Check(
    "members",
    "members",
    Flag("Require exactly N members.", "N", int),
    "a number",
    parse_whole,
    judge=_exactly,
    about_offsets=False,
)
MIN_MEMBERS = Check(
    "min-members",
    "min_members",
    Flag("Require at least N members.", "N", int),
    "a number",
    parse_whole,
    judge=_at_least,
    about_offsets=False,
)


def _is_stopped(evidence: Evidence) -> Iterator[Finding]:
    yield _stopped(evidence.last)


def _stopped(seen: Seen) -> Finding:
    """Return whether no client uses the group: it has no members, and no other client commits for it.

    A client whose transaction has offsets of the group is running, or did not end it.
    """
    group = seen.offsets.group
    name = group.group
    if group.type == GroupType.SPARK:
        return Finding(name, "stopped", Severity.UNKNOWN, UNSEEN)
    if group.state not in GroupState.WITHOUT_MEMBERS:
        return Finding(name, "stopped", Severity.CRITICAL, f"{group.state or 'state unknown'}; no members are expected")
    if pending := pending_remark(seen.offsets.commits.pending or frozenset()):
        return Finding(name, "stopped", Severity.CRITICAL, f"no members, but {pending[0]}")
    if seen.outsiders:
        return Finding(name, "stopped", Severity.CRITICAL, f"no members, but {seen.outsiders}")
    if seen.outsiders_unread:
        message = f"no members; commits by other clients are unknown: {seen.outsiders_unread}"
        return Finding(name, "stopped", Severity.UNKNOWN, message)
    return Finding(name, "stopped", Severity.OK, "no members, and no other client commits")


STOPPED = Check(
    "stopped",
    "stopped",
    Flag("Require that there are no members, and no other client that commits, such as a consumer that uses assign()."),
    "true or false",
    parse_flag,
    judge=_is_stopped,
    inputs=frozenset({Input.OUTSIDERS}),
    about_offsets=False,
)
