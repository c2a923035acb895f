"""Clients that commit for a group without being members of it: consumers that use ``assign()``, and Flink."""

from __future__ import annotations

from collections.abc import Iterator

from ..places import place_name
from ..views.lag_summary import pending_remark
from .facts import GroupFacts
from .findings import Finding, info, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    pending = facts.commits.pending if facts.commits else None
    if pending:
        (text,) = pending_remark(pending)
        names = [place_name(*place) for place in sorted(pending)]
        if facts.members:
            yield info("open-transaction", f"{text}: they are committed when it is", names)
        else:
            text = f"it has no members, but {text}: its client is running, or did not end it; the group is in use"
            yield warning("open-transaction", text, names)
    if facts.outsiders:
        yield warning(
            "not-stopped",
            "it has no members, but a client that is not a member commits offsets for it, such as a consumer that uses "
            f"assign(), or Flink: {facts.outsiders}; the group is in use, and that client would overwrite a reset of "
            "its offsets",
        )
