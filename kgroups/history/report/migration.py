"""Which groups can move to the consumer protocol: the output of ``kgroups explain --migration``, summed up.

The store has neither the settings of brokers nor the user data of assignments, which decide about that. A group without
a verdict is unknown, and never ready.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from kgroups.errors import HistoryError, UsageError
from kgroups.model.groups import GroupType
from kgroups.model.migration import Verdict

from .data import Blocked, Kept, Migrations, VerdictCount

SCHEMA = "kgroups/explain-migration/v1"
COMMAND = "kgroups explain --all-groups --migration -o json"
DIRECTIONS = ("upgrade", "rollback")


class _Blocker(NamedTuple):
    direction: str
    rule: str
    fixes: tuple[str, ...]
    text: str


class _Judged(NamedTuple):
    """A group: its verdicts by direction, and what blocks it."""

    verdicts: Mapping[str, Verdict]
    blockers: tuple[_Blocker, ...]


class Judged(NamedTuple):
    """The verdicts in a file by group. ``written``: when the file was written."""

    file: str
    written: datetime
    groups: Mapping[str, _Judged]


def read_verdicts(path: Path, cluster_id: str | None) -> Judged:
    """Return the verdicts about the groups of a cluster.

    :raises UsageError: if the file cannot be read, or is not the output of :data:`COMMAND`.
    :raises HistoryError: if it is about other clusters.
    """
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if answer["schema"] != SCHEMA:
            raise ValueError(answer["schema"])
        clusters = answer.get("clusters", {None: answer["cluster_id"]})
        names = {name for name, found in clusters.items() if found == cluster_id is not None}
        groups = {each["group"]: _judged(each) for each in answer["items"] if each.get("cluster") in names}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, LookupError, AttributeError):
        raise UsageError(f"{path} is not the output of {COMMAND}") from None
    if not names:
        raise HistoryError(f"{path} has no verdicts about the cluster of the store, {cluster_id or 'which is unknown'}")
    return Judged(path.name, written, groups)


def _judged(item: Mapping[str, Any]) -> _Judged:
    return _Judged(
        {direction: Verdict(item[direction]["verdict"]) for direction in DIRECTIONS},
        tuple(
            _Blocker(direction, each["rule"], tuple(each["fixes"]), each["text"])
            for direction in DIRECTIONS
            for each in item[direction]["blockers"]
        ),
    )


def sum_up(judged: Judged | None, known: Iterable[tuple[str, str | None]], rows: int, names: int) -> Migrations:
    """Count the verdicts, and group the blockers by their rules and fixes.

    :param known: the groups of the store, each with its type.
    :param rows: the maximum number of blockers; ``names``: of groups of each.
    """
    groups = judged.groups if judged else {}
    counts: dict[str, Counter[Verdict]] = {direction: Counter() for direction in DIRECTIONS}
    missing = 0
    for name, kind in known:
        if name not in groups:
            is_of_consumers = kind is None or kind.capitalize() in GroupType.OF_CONSUMERS
            missing += is_of_consumers
            for found in counts.values():
                found[Verdict.UNKNOWN if is_of_consumers else Verdict.NOT_APPLICABLE] += 1
    for each in groups.values():
        for direction, verdict in each.verdicts.items():
            counts[direction][verdict] += 1
    blocked = tuple(_blocked(groups, names))
    return Migrations(
        judged and judged.file,
        judged and judged.written,
        tuple(VerdictCount(verdict, *(counts[direction][verdict] for direction in DIRECTIONS)) for verdict in Verdict),
        missing,
        Kept(blocked[:rows], len(blocked)),
    )


def _blocked(groups: Mapping[str, _Judged], names: int) -> Iterator[Blocked]:
    """Yield the blockers, those of most groups first."""
    found: dict[tuple[str, str, tuple[str, ...]], dict[str, str]] = {}
    for name, each in sorted(groups.items()):
        for blocker in each.blockers:
            found.setdefault(blocker[:3], {}).setdefault(name, blocker.text)
    for (direction, rule, fixes), texts in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Blocked(direction, rule, tuple(texts)[:names], len(texts), next(iter(texts.values())), fixes)
