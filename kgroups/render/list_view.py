"""The view of ``list``."""

from __future__ import annotations

from kgroups.model.views.list_row import ListRow

from .views import Align, Tier, View, columns_of

_L, _B, _W = Align.LEFT, Tier.BASE, Tier.WIDE

LIST = View(
    "list",
    "Groups",
    columns_of(
        ListRow,
        ("GROUP", "group", _L, _B, None),
        ("TYPE", "type", _L, _W, None),
        ("PROTOCOL-TYPE", "protocol_type", _L, _W, None),
        ("STATE", "state", _L, _W, None),
        ("COORDINATOR (ID)", "coordinator", _L, _W, None),
    ),
    bare_alone=True,
)
