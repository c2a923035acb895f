"""The views of ``kgroups config`` and ``kgroups profile``."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.config.effective import EffectiveSetting
from kgroups.model.connection_check import CheckRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _W = Tier.BASE, Tier.WIDE

_DEFAULT = Column("DEFAULT", "default", "Whether it is the default profile.")
_PROFILE = Column("PROFILE", "profile", "Name of the profile.")

CHECK = View(
    "config-check",
    "Connection check",
    columns_of(
        CheckRow,
        Column("WHERE", "where", "Source of the setting, or the server."),
        Column("STEP", "step", "The setting, or the step of the connection."),
        Column("RESULT", "result", "understood (a setting), ok, warning, failed, or not tried."),
        Column("MS", "milliseconds", "Duration of the step in ms.", _R),
        Column("DETAIL", "detail", "The result of the step in words."),
        Column("FIX", "fix", "What to do about a problem.", _L, _W, Sooner(_B, some_value)),
    ),
    sort_key=lambda row: 0,  # in the order of the steps
)

SETTINGS = View(
    "config-show",
    "Settings",
    columns_of(
        EffectiveSetting,
        columns.KEY._replace(header="SETTING"),
        columns.VALUE,
        columns.ORIGIN,
        Column("MEANING", "meaning", "What the setting does."),
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
        _PROFILE,
        _DEFAULT,
        columns.BOOTSTRAP,
        Column("COMMAND-CONFIG", "command_config", "Path of the client configuration file."),
    ),
    sort_key=lambda row: 0,
)

CHECKED_PROFILES = View(
    "profiles-check",
    "profiles-check",
    columns_of(
        CheckedProfileRow,
        _PROFILE,
        _DEFAULT,
        columns.BOOTSTRAP,
        columns.CLUSTER_ID._replace(header="CLUSTER"),
        columns.GROUPS._replace(header="GROUPS"),
        Column("RESULT", "result", "ok or failed."),
    ),
    sort_key=lambda row: 0,
)

PROFILE = View(
    "profile",
    "profile",
    columns_of(
        ProfileSettingRow,
        columns.KEY,
        columns.VALUE,
        columns.ORIGIN,
    ),
    sort_key=lambda row: 0,
)
