"""The number of members: exactly, or at least."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..counts import count
from .check import Check, Evidence, Flag, either
from .findings import Finding
from .severity import Severity
from .values import parse_whole


def _exactly(evidence: Evidence) -> Iterator[Finding]:
    expected_members = evidence.limits.members or 0
    yield _judged(evidence, lambda found: found == expected_members, f"exactly {expected_members:,} expected")


def _at_least(evidence: Evidence) -> Iterator[Finding]:
    if evidence.limits.members is None:
        expected_members = evidence.limits.min_members or 0
        yield _judged(evidence, lambda found: found >= expected_members, f"at least {expected_members:,} expected")


def _judged(evidence: Evidence, is_well: Callable[[int], bool], expected: str) -> Finding:
    group = evidence.last.offsets.group
    if group.members is None:
        return Finding(
            evidence.name, "members", Severity.UNKNOWN, f"the members of {group.type} groups are not reported"
        )
    found = len(group.members)
    return either(evidence, "members", is_well(found), count(found, "member"), expected)._replace(value=found)


CHECK = Check(
    "members",
    "members",
    Flag("Require exactly N members.", "N", int),
    "a number",
    parse_whole,
    judge=_exactly,
    about_offsets=False,
)
AT_LEAST = Check(
    "min-members",
    "min_members",
    Flag("Require at least N members.", "N", int),
    "a number",
    parse_whole,
    judge=_at_least,
    about_offsets=False,
)
