"""The views of the settings of groups."""

from __future__ import annotations

from kgroups.model.settings.change import SettingChangeRow
from kgroups.model.settings.declared import DriftRow
from kgroups.model.settings.setting import SettingRow

from .act_views import RESULT_COLUMNS
from .views import Align, Tier, View, columns_of

_L = Align.LEFT
_B, _W = Tier.BASE, Tier.WIDE

SETTINGS = View(
    "settings",
    "Settings of groups",
    columns_of(
        SettingRow,
        ("GROUP", "group", _L, _B, None),
        ("KEY", "key", _L, _B, None),
        ("VALUE", "value", _L, _B, None),
        ("ORIGIN", "origin", _L, _B, None),
        ("INHERITED", "inherited", _L, _W, None),
        ("INHERITED-ORIGIN", "inherited_origin", _L, _W, None),
    ),
)

DRIFT = View(
    "settings-diff",
    "Settings that differ from the file",
    columns_of(
        DriftRow,
        ("GROUP", "group", _L, _B, None),
        ("KEY", "key", _L, _B, None),
        ("FILE", "declared", _L, _B, None),
        ("VALUE", "value", _L, _B, None),
        ("ORIGIN", "origin", _L, _B, None),
        ("RESULT", "result", _L, _B, None),
    ),
)

SETTING_CHANGES = View(
    "settings-change",
    "Settings to be changed",
    columns_of(
        SettingChangeRow,
        ("GROUP", "group", _L, _B, None),
        ("KEY", "key", _L, _B, None),
        ("OLD-VALUE", "old_value", _L, _B, None),
        ("OLD-ORIGIN", "old_origin", _L, _B, None),
        ("NEW-VALUE", "new_value", _L, _B, None),
        ("NEW-ORIGIN", "new_origin", _L, _B, None),
        *RESULT_COLUMNS,
    ),
)

VIEWS = {"show": SETTINGS, "diff": DRIFT, "set": SETTING_CHANGES, "unset": SETTING_CHANGES}
"""The views of the commands."""
