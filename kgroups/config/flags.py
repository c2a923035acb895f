"""The connection flags of a command line, and the settings loaded from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .settings import ClientSettings

if TYPE_CHECKING:
    from .effective import EffectiveSetting

BOOTSTRAP_ENV = "KGROUPS_BOOTSTRAP_SERVER"
COMMAND_CONFIG_ENV = "KGROUPS_COMMAND_CONFIG"
PROFILE_ENV = "KGROUPS_PROFILE"
CONFIG_ENV = "KGROUPS_CONFIG"
"""The file of profiles, if it is not in the user's configuration directory."""

TIMEOUT = 30.0
BROKER_TIMEOUT = 10.0


class Flags(NamedTuple):
    """Flags of the command line; ``None`` for a flag that is not set. Times are in seconds."""

    bootstrap: str | None = None
    command_config: str | None = None
    overrides: tuple[str, ...] = ()
    """Values of ``-X``: ``KEY=VALUE``."""
    profile: str | None = None
    timeout: float | None = None
    broker_timeout: float | None = None
    transport: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    """Keys and values that a program passes, taken literally: unlike in ``-X``, ``@`` does not name a file."""

    config_providers: bool | None = None
    """Whether placeholders such as ``${env:...}`` are resolved; ``None``: everywhere except in ``properties``."""
    max_requests_per_second: float | None = None

    def __repr__(self) -> str:
        """Return the flags without overrides and properties, which may contain passwords."""
        shown = self._asdict() | {"overrides": len(self.overrides), "properties": len(self.properties)}
        return f"Flags({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


class Loaded(NamedTuple):
    """The settings of a command, with warnings and origins."""

    settings: ClientSettings
    warnings: tuple[str, ...] = ()
    """One line each, for stderr: ignored settings and insecure ones."""
    understood: tuple[EffectiveSetting, ...] = ()
    """Every setting in effect; empty if there were only plain flags and ``load_settings`` was called without
    ``explain``."""
