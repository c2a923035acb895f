"""Whether a group would read the same record next on two clusters."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ..offsets import Commit, LogOffsets
from ..severity import Severity
from .method import Impossible, Translation


class Verdict(StrEnum):
    """How the committed offset of the copy compares with that of the source."""

    SAME = "same"
    BEHIND = "behind"
    """The group would read records again."""
    AHEAD = "ahead"
    """Records would be lost."""
    UNKNOWN = "unknown"

    @property
    def severity(self) -> Severity:
        return _SEVERITIES[self]


_SEVERITIES = {
    Verdict.SAME: Severity.OK,
    Verdict.BEHIND: Severity.WARNING,
    Verdict.AHEAD: Severity.CRITICAL,
    Verdict.UNKNOWN: Severity.UNKNOWN,
}


class Compared(NamedTuple):
    """The committed offsets of one partition of one group on both clusters.

    ``expected``: the offset of the copy at which the group would read the same record next. ``records``: by how many
    records it is behind or ahead, at least; ``None``: unknown.
    """

    group: str
    topic: str
    partition: int
    source_offset: int | None
    target_topic: str
    target_offset: int | None
    expected: int | None
    verdict: str
    """A :class:`Verdict`."""
    records: int | None = None
    note: str | None = None


class Judgment(NamedTuple):
    verdict: Verdict
    records: int | None = None
    note: str | None = None


NOT_COMMITTED = Judgment(Verdict.UNKNOWN, note="no committed offset on B: auto.offset.reset decides")


def without_count(translation: Translation, commit: Commit | None, log: LogOffsets) -> Judgment | None:
    """Return the verdict where no records have to be counted; otherwise ``None``."""
    if commit is None and translation.why is not Impossible.UNREADABLE:  # which may hide it
        return NOT_COMMITTED
    if commit is None or translation.offset is None:
        return Judgment(Verdict.UNKNOWN, note=f"{translation.why}: {translation.evidence}")
    if translation.at_most is None:
        return Judgment(Verdict.UNKNOWN, note=f"only a lower bound is known: {translation.evidence}")
    if log.start is None or log.end is None:
        return Judgment(Verdict.UNKNOWN, note="the log of B is unknown")
    if not log.start <= commit.offset <= log.end:
        text = f"the committed offset on B is outside of its log, from {log.start:,} to {log.end:,}"
        return Judgment(Verdict.UNKNOWN, note=f"{text}: auto.offset.reset decides")
    if translation.exact and commit.offset == translation.offset:
        return Judgment(Verdict.SAME, 0, translation.evidence)
    return None


def by_count(translation: Translation, commit: Commit, between: int | None) -> Judgment:
    """Return the verdict by the number of records between the translated and the committed offset of the copy.

    :param between: ``None`` if they could not be counted.
    """
    assert translation.offset is not None and translation.at_most is not None
    ahead = commit.offset - translation.offset
    if between is None:
        verdict = Verdict.AHEAD if ahead > 0 else Verdict.BEHIND
        if translation.at_most:
            verdict = Verdict.UNKNOWN
        return Judgment(verdict, None, f"{abs(ahead):,} offsets, whose records were not counted")
    if between == 0 and translation.exact:
        return Judgment(Verdict.SAME, 0, translation.evidence)
    if ahead <= 0 and between:
        more = f"; at most {between + translation.at_most:,}" if translation.at_most else ""
        return Judgment(Verdict.BEHIND, between, f"{translation.evidence}{more}")
    if between <= translation.at_most:
        text = f"its offset is one of {translation.at_most + 1:,} that may be right"
        return Judgment(Verdict.UNKNOWN, None, f"{text}: {translation.evidence}")
    least = between - translation.at_most
    more = f"; at most {between:,}" if translation.at_most else ""
    return Judgment(Verdict.AHEAD, least, f"{translation.evidence}{more}")
