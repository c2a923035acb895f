"""Read settings by key, independently of their source, and track which ones were read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kgroups.errors import ConfigError

from .effective import EffectiveSetting, shown
from .secret import Secret

_SECRET = re.compile(
    r"password|passphrase|passwd|secret|token$|jaas\.config|private|ssl\.keystore\.key$|ssl\.key\.pem|assertion|user\.info$"
    r"|credential$|access\.?key|api\.?key|extensions$|oauthbearer\.config$",
    re.I,
)


class Setting(NamedTuple):
    """A key in Java's or librdkafka's spelling, its value, and its origin."""

    key: str
    value: str
    origin: str
    written: str | None = None
    """The key as written, if it differs: ``timeout`` in a profile; empty for a flag, whose name is the origin."""

    @property
    def name(self) -> str:
        return (self.key if self.written is None else self.written) or self.origin

    @property
    def place(self) -> str:
        """Return the start of an error message: ``client.properties, line 3: ssl.protocol``."""
        return self.origin if self.written == "" else f"{self.origin}: {self.name}"

    def __repr__(self) -> str:
        return f"Setting({self.origin})"  # many values are passwords, and keys may be by mistake

    @property
    def secret(self) -> Secret:
        return Secret(self.value)

    def error(self, reason: str) -> ConfigError:
        """Return the error to raise; it does not contain the value."""
        return ConfigError(f"{self.place} {reason}")


class SettingsReader:
    """The settings of one scope. Taking a setting records its meaning; :meth:`unused` returns the others."""

    def __init__(self, settings: Iterable[Setting] = (), scope: str = "") -> None:
        """Create a reader of these settings.

        :param scope: prefix of the keys in ``understood``: ``sasl.jaas.config: ``.
        """
        self._settings = {setting.key: setting for setting in settings}
        self._scope = scope
        self._taken: set[str] = set()
        self.shadowed: list[tuple[Setting, Setting]] = []
        """Settings that are not used because another spelling of them has another value, each with that one."""
        self.understood: list[EffectiveSetting] = []

    def __contains__(self, key: str) -> bool:
        return key in self._settings

    def peek(self, *keys: str) -> Setting | None:
        """Return the first of these settings that exists, without marking it as used."""
        return next((self._settings[key] for key in keys if key in self._settings), None)

    def take(self, *keys: str, means: str, secret: bool = False) -> Setting | None:
        """Return the first of these settings that exists, and mark all of them as used.

        :param keys: spellings of one setting.
        :param means: what the setting does, for ``understood``.
        """
        found = self.peek(*keys)
        is_new = found is not None and found.key not in self._taken
        others = [self._settings[key] for key in keys if key in self._settings and key not in self._taken]
        self._taken.update(keys)
        if found and is_new:
            self.shadowed += [(each, found) for each in others if each.value != found.value]
            value = shown(found.value, secret=secret or is_secret(found.key))
            self.understood.append(EffectiveSetting(self._scope + found.name, value, found.origin, means))
        return found

    def record_unused(self, keys: Iterable[str], means: str) -> None:
        """Record settings that have no effect in ``understood``, without their values, which may be anything."""
        self.understood += (
            EffectiveSetting(self._scope + each.name, "", each.origin, means)
            for each in self.unused()
            if each.key in keys
        )

    def drop(self, *keys: str) -> None:
        """Mark settings as used that others replace."""
        self._taken.update(keys)

    def take_all(self, prefix: str, *, means: str, secret: bool = False) -> dict[str, Setting]:
        """Take the settings with this prefix, by the rest of their keys."""
        keys = [key for key in self._settings if key.startswith(prefix) and key != prefix]
        taken = {key.removeprefix(prefix): self.take(key, means=means, secret=secret) for key in keys}
        return {key: setting for key, setting in taken.items() if setting}

    def text(self, *keys: str, means: str) -> str | None:
        """Return a stripped value; ``None`` if it is empty or missing."""
        found = self.take(*keys, means=means)
        return (found.value.strip() or None) if found else None

    def secret(self, *keys: str, means: str) -> Secret | None:
        """Return an unchanged value; ``None`` if it is empty or missing."""
        found = self.take(*keys, means=means, secret=True)
        return found.secret if found and found.value else None

    def flag(self, *keys: str, default: bool, means: str) -> bool:
        """Return a boolean.

        :raises ConfigError: if the value is not true or false.
        """
        found = self.take(*keys, means=means)
        if found is None or not found.value.strip():
            return default
        word = found.value.strip().lower()
        if word not in ("true", "false"):
            raise found.error("must be true or false")
        return word == "true"

    def seconds(self, *keys: str, means: str) -> float | None:
        """Return the seconds of a setting in milliseconds, the unit of Java's clients and librdkafka.

        :raises ConfigError: if it is not a positive number.
        """
        found = self.take(*keys, means=means)
        if found is None:
            return None
        if not re.fullmatch("0{0,99}[1-9][0-9]{0,11}", found.value.strip()):
            raise found.error("must be a positive number of milliseconds")
        if found.written is not None:  # a flag or a profile key, whose unit is seconds
            self.understood[-1] = self.understood[-1]._replace(value=f"{int(found.value)} ms")
        return int(found.value) / 1000

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._settings.values())

    def unused(self) -> list[Setting]:
        """Return the settings that nothing has used, in their order."""
        return [setting for setting in self if setting.key not in self._taken]


def path_of_url(setting: Setting) -> str:
    """Return the path of a ``file:`` URL.

    :raises ConfigError: if it is invalid.
    """
    from urllib.parse import unquote, urlsplit

    try:
        return unquote(urlsplit(setting.value.strip()).path)
    except ValueError:  # an invalid address in brackets
        raise setting.error("must be a file URL (file:///PATH)") from None


def is_secret(key: str) -> bool:
    """Return whether the value of this key is probably a secret, judged by the key's name."""
    return bool(_SECRET.search(key))
