"""Which groups a command line means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .joptsimple import ParsedOptions

if TYPE_CHECKING:
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.admin.query.select_groups import Selection


def selection_of(given: ParsedOptions, among: ListFilter | None = None) -> Selection:
    """The named ones, or with ``--all-groups`` all that pass; where nothing is said, all groups of consumers.

    :raises UsageError: for a name that cannot be.
    """
    from kgroups.admin.query.list_groups import CONSUMERS
    from kgroups.admin.query.select_groups import Selection
    from kgroups.cli.frame.group_options import check_name

    names = tuple(dict.fromkeys(given.all("group")))
    for name in names:
        check_name(name)
    return Selection(names, everything="all-groups" in given, among=among or CONSUMERS)
