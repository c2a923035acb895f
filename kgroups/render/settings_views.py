"""The views of the settings of groups."""

from __future__ import annotations

from kgroups.model.settings.change import SettingChangeRow
from kgroups.model.settings.declared import DriftRow
from kgroups.model.settings.setting import SettingRow

from . import columns
from .act_views import RESULT_COLUMNS
from .views import Align, Column, Tier, View, columns_of

_L = Align.LEFT
_W = Tier.WIDE

SETTINGS = View(
    "settings",
    "Settings of groups",
    columns_of(
        SettingRow,
        columns.GROUP,
        columns.KEY,
        columns.VALUE,
        columns.ORIGIN,
        Column("INHERITED", "inherited", "Value without the one that is set for the group.", _L, _W),
        Column("INHERITED-ORIGIN", "inherited_origin", "Origin of the inherited value.", _L, _W),
    ),
)

DRIFT = View(
    "settings-diff",
    "Settings that differ from the file",
    columns_of(
        DriftRow,
        columns.GROUP,
        columns.KEY,
        Column("FILE", "declared", "Value in the file."),
        columns.VALUE,
        columns.ORIGIN,
        Column("RESULT", "result", "differs, not set, or not in file."),
    ),
)

SETTING_CHANGES = View(
    "settings-change",
    "Settings to be changed",
    columns_of(
        SettingChangeRow,
        columns.GROUP,
        columns.KEY,
        Column("OLD-VALUE", "old_value", "Value before the change."),
        Column("OLD-ORIGIN", "old_origin", "Origin of the old value."),
        Column("NEW-VALUE", "new_value", "Value after the change."),
        Column("NEW-ORIGIN", "new_origin", "Origin of the new value."),
        *RESULT_COLUMNS,
    ),
    drops=("new_origin", "old_origin"),
)

VIEWS = {"show": SETTINGS, "diff": DRIFT, "set": SETTING_CHANGES, "unset": SETTING_CHANGES}
"""The views of the commands."""
