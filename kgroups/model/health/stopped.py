"""Whether no client uses a group."""

from __future__ import annotations

from collections.abc import Iterator

from ..groups import GroupState
from ..views.lag_summary import pending_remark
from .check import Check, Evidence, Flag, Input
from .findings import Finding, Seen
from .severity import Severity
from .values import parse_flag


def _judge(evidence: Evidence) -> Iterator[Finding]:
    yield _stopped(evidence.last)


def _stopped(seen: Seen) -> Finding:
    """Return whether no client uses the group: it has no members, and no other client commits for it.

    A client whose transaction has offsets of the group is running, or did not end it.
    """
    group = seen.offsets.group
    name = group.group_id
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


CHECK = Check(
    "stopped",
    "stopped",
    Flag("Require that there are no members, and no other client that commits, such as a consumer that uses assign()."),
    "true or false",
    parse_flag,
    judge=_judge,
    inputs=frozenset({Input.OUTSIDERS}),
    about_offsets=False,
)
