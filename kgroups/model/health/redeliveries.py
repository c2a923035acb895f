"""How often the unfinished records of a share group were delivered again."""

from __future__ import annotations

from collections.abc import Iterator

from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .shared import judge_share_group
from .values import LIMIT, parse_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.redeliveries:
        yield judge_share_group(
            evidence, "redeliveries", limit, "", lambda *given: max(0, given[-1].most_deliveries - 1)
        )


CHECK = Check(
    "max-redeliveries",
    "redeliveries",
    Flag("Share groups: times that an unfinished record was delivered again.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_judge,
    inputs=frozenset({Input.SHARE_STATES}),
)
