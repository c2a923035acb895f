"""The views of ``kgroups config`` and ``kgroups profile``."""

from __future__ import annotations

from kgroups.config.effective import EffectiveSetting
from kgroups.model.connection_check import CheckRow

from .views import Align, Sooner, Tier, View, columns_of, some_value, view_of

_L, _R = Align.LEFT, Align.RIGHT
_B = Tier.BASE

CHECK = View(
    "config-check",
    "Connection check",
    columns_of(
        CheckRow,
        ("WHERE", "where", _L, _B, None),
        ("STEP", "step", _L, _B, None),
        ("RESULT", "result", _L, _B, None),
        ("MS", "milliseconds", _R, _B, None),
        ("DETAIL", "detail", _L, _B, None),
        ("FIX", "fix", _L, Tier.WIDE, Sooner(_B, some_value)),
    ),
    sort_key=lambda row: 0,  # in the order of the steps
)

SETTINGS = View(
    "config-show",
    "Settings",
    columns_of(
        EffectiveSetting,
        ("SETTING", "key", _L, _B, None),
        ("VALUE", "value", _L, _B, None),
        ("ORIGIN", "origin", _L, _B, None),
        ("MEANING", "meaning", _L, _B, None),
    ),
    sort_key=lambda row: 0,  # in their original order
)

PROFILES = view_of("profiles", ((name, False) for name in ("profile", "default", "bootstrap", "command_config")))

CHECKED_PROFILES = view_of(
    "profiles-check",
    (
        ("profile", False),
        ("default", False),
        ("bootstrap", False),
        ("cluster_id", False),
        ("groups", True),
        ("result", False),
    ),
)

PROFILE = view_of("profile", ((name, False) for name in ("key", "value", "origin")))
