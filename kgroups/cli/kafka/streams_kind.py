"""Which streams groups a command line means, and that those that were named are such."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kgroups.model.groups import Group, GroupType
from kgroups.model.outcome import Failure, Outcome, Scope

from .joptsimple import ParsedOptions

if TYPE_CHECKING:
    from kgroups.admin.query.select_groups import Selection


def streams_selection(given: ParsedOptions) -> Selection:
    """The named ones, or with ``--all-groups`` all streams groups.

    :raises UsageError: for a name that cannot be.
    """
    from kgroups.admin.query.list_groups import STREAMERS

    from .which import selection_of

    return selection_of(given, STREAMERS)


def only_streams(outcome: Outcome[Any], groups: Iterable[Group]) -> Outcome[Any]:
    """The items whose groups are streams groups; each other one, which was named, is a failure."""
    kept, failures = [], []
    for item, group in zip(outcome.items, groups, strict=True):
        if group.type == GroupType.STREAMS:
            kept.append(item)
        else:
            kind = group.type or "unknown"
            failures.append(Failure(Scope.GROUP, group.group_id, f"it is not a streams group, but of type {kind}"))
    return outcome.with_items(kept).with_failures(failures)
