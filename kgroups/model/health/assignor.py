"""The assignor of a group."""

from __future__ import annotations

from collections.abc import Iterator

from .check import Check, Evidence, Flag, either
from .findings import Finding
from .values import parse_name


def _judge(evidence: Evidence) -> Iterator[Finding]:
    expected, found = evidence.limits.assignor, evidence.last.offsets.group.protocol
    yield either(evidence, "assignor", found == expected, found or "no assignor", f"{expected} is expected")


CHECK = Check(
    "assignor",
    "assignor",
    Flag("Require this assignor, such as range or uniform.", "NAME"),
    "a name",
    parse_name,
    judge=_judge,
    about_offsets=False,
)
