"""The groups that a command line selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .joptsimple import ParsedOptions

if TYPE_CHECKING:
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.admin.query.select_groups import Selection


def selection_of(parsed: ParsedOptions, among: ListFilter | None = None) -> Selection:
    """Return the named groups, or with ``--all-groups`` all groups that pass a filter.

    :param among: the filter; default: consumer groups.
    :raises UsageError: if a name is invalid.
    """
    from kgroups.admin.query.list_groups import CONSUMERS
    from kgroups.admin.query.select_groups import Selection
    from kgroups.cli.frame.group_options import check_name

    names = tuple(dict.fromkeys(parsed.all("group")))
    for name in names:
        check_name(name)
    return Selection(names, everything="all-groups" in parsed, among=among or CONSUMERS)
