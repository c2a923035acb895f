"""The view of ``list``."""

from __future__ import annotations

from kgroups.model.views.list_row import ListRow

from . import columns
from .views import Tier, View, columns_of

_W = Tier.WIDE

LIST = View(
    "list",
    "Groups",
    columns_of(
        ListRow,
        columns.GROUP,
        columns.TYPE,
        columns.PROTOCOL_TYPE,
        columns.STATE.at(_W),
        columns.COORDINATOR.at(_W),
    ),
    bare_alone=True,
)
