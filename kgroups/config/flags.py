"""What a command line asks for, and what a command gets from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .settings import ClientSettings

if TYPE_CHECKING:
    from .effective import EffectiveSetting

BOOTSTRAP_ENV = "KGROUPS_BOOTSTRAP_SERVER"
COMMAND_CONFIG_ENV = "KGROUPS_COMMAND_CONFIG"
PROFILE_ENV = "KGROUPS_PROFILE"
CONFIG_ENV = "KGROUPS_CONFIG"
"""Where the profiles are, if not in the user's config folder."""

TIMEOUT = 30.0
BROKER_TIMEOUT = 10.0


class Flags(NamedTuple):
    """What the command line says; ``None`` where it says nothing. Times in seconds."""

    bootstrap: str | None = None
    command_config: str | None = None
    overrides: tuple[str, ...] = ()
    """Of ``-X``: ``KEY=VALUE``."""
    profile: str | None = None
    timeout: float | None = None
    broker_timeout: float | None = None
    transport: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    """Of a program: keys and values as they are, where an override's ``@`` would name a file."""

    config_providers: bool | None = None
    """Whether ``${env:...}`` and the like are filled in; ``None``: not in ``properties``."""
    max_requests_per_second: float | None = None

    def __repr__(self) -> str:
        """Without overrides and properties, which hold passwords."""
        shown = self._asdict() | {"overrides": len(self.overrides), "properties": len(self.properties)}
        return f"Flags({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


class Loaded(NamedTuple):
    """What a command goes by."""

    settings: ClientSettings
    remarks: tuple[str, ...] = ()
    """One line each, for stderr: what is not followed, what is dangerous."""
    understood: tuple[EffectiveSetting, ...] = ()
    """Every setting that was given and is followed; only where ``load_settings`` was told to explain, or had more
    to read than flags."""
