"""The views of ``kgroups config`` and ``kgroups profile``."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.config.effective import EffectiveSetting
from kgroups.model.connection_check import CheckRow

from .views import Align, Sooner, Tier, View, columns_of, some_value

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


class ProfileRow(NamedTuple):
    """One profile."""

    profile: str
    default: bool
    bootstrap: str | None
    command_config: str | None


class CheckedProfileRow(NamedTuple):
    """One profile, and whether its cluster responds."""

    profile: str
    default: bool
    bootstrap: str | None
    cluster_id: str | None
    groups: int | None
    result: str


class ProfileSettingRow(NamedTuple):
    """One setting of a profile."""

    key: str
    value: str
    origin: str


PROFILES = View(
    "profiles",
    "profiles",
    columns_of(
        ProfileRow,
        ("PROFILE", "profile", _L, _B, None),
        ("DEFAULT", "default", _L, _B, None),
        ("BOOTSTRAP", "bootstrap", _L, _B, None),
        ("COMMAND-CONFIG", "command_config", _L, _B, None),
    ),
    sort_key=lambda row: 0,
)

CHECKED_PROFILES = View(
    "profiles-check",
    "profiles-check",
    columns_of(
        CheckedProfileRow,
        ("PROFILE", "profile", _L, _B, None),
        ("DEFAULT", "default", _L, _B, None),
        ("BOOTSTRAP", "bootstrap", _L, _B, None),
        ("CLUSTER", "cluster_id", _L, _B, None),
        ("GROUPS", "groups", _R, _B, None),
        ("RESULT", "result", _L, _B, None),
    ),
    sort_key=lambda row: 0,
)

PROFILE = View(
    "profile",
    "profile",
    columns_of(
        ProfileSettingRow,
        ("KEY", "key", _L, _B, None),
        ("VALUE", "value", _L, _B, None),
        ("ORIGIN", "origin", _L, _B, None),
    ),
    sort_key=lambda row: 0,
)
