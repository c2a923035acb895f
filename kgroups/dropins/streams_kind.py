"""The streams groups that a command line selects, and failures for named groups of other types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kgroups.model.groups import Group, GroupType
from kgroups.model.outcome import Outcome

from .joptsimple import ParsedOptions
from .sentences import other_type

if TYPE_CHECKING:
    from kgroups.admin.query.select_groups import Selection


def streams_selection(parsed: ParsedOptions) -> Selection:
    """Return the named groups, or with ``--all-groups`` all streams groups.

    :raises UsageError: if a name is invalid.
    """
    from kgroups.admin.query.list_groups import STREAMERS

    from .which import selection_of

    return selection_of(parsed, STREAMERS)


def only_streams(outcome: Outcome[Any], groups: Iterable[Group]) -> Outcome[Any]:
    """Return the items of streams groups; each other group was selected by name, and is a failure."""
    kept, failures = [], []
    for item, group in zip(outcome.items, groups, strict=True):
        if group.type == GroupType.STREAMS:
            kept.append(item)
        else:
            failures.append(other_type("streams", group.group_id))
    return outcome.with_items(kept).with_failures(failures)
