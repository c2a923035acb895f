"""The settings that were given, by their key, whoever gave them; and which of them somebody asked for."""

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
    """A key as Java or librdkafka spells it, its value, and where that was given."""

    key: str
    value: str
    origin: str
    written: str | None = None
    """Where the key is written otherwise: ``timeout`` in a profile; empty for a flag, whose name is the origin."""

    @property
    def name(self) -> str:
        return (self.key if self.written is None else self.written) or self.origin

    @property
    def place(self) -> str:
        """What an error begins with: ``client.properties, line 3: ssl.protocol``."""
        return self.origin if self.written == "" else f"{self.origin}: {self.name}"

    def __repr__(self) -> str:
        return f"Setting({self.origin})"  # many values are passwords, and by mistake some keys

    @property
    def secret(self) -> Secret:
        return Secret(self.value)

    def wrong(self, reason: str) -> ConfigError:
        """The error to raise. The value is not in it."""
        return ConfigError(f"{self.place} {reason}")


class SettingsReader:
    """Settings of one scope. Who takes one, says what it does here; what nobody took is left."""

    def __init__(self, settings: Iterable[Setting] = (), scope: str = "") -> None:
        """
        :param scope: stands before the keys in what is understood: ``sasl.jaas.config: ``.
        """
        self._settings = {setting.key: setting for setting in settings}
        self._scope = scope
        self._taken: set[str] = set()
        self.understood: list[EffectiveSetting] = []

    def __contains__(self, key: str) -> bool:
        return key in self._settings

    def peek(self, *keys: str) -> Setting | None:
        """The first of these that is there, untaken."""
        return next((self._settings[key] for key in keys if key in self._settings), None)

    def take(self, *keys: str, means: str, secret: bool = False) -> Setting | None:
        """The first of these keys (spellings of one setting) that is there; all of them count as taken."""
        found = self.peek(*keys)
        self._taken.update(keys)
        if found:
            value = shown(found.value, secret=secret or is_secret(found.key))
            self.understood.append(EffectiveSetting(self._scope + found.name, value, found.origin, means))
        return found

    def drop(self, *keys: str) -> None:
        """Passes over what something else stands instead of."""
        self._taken.update(keys)

    def take_all(self, prefix: str, *, means: str, secret: bool = False) -> dict[str, Setting]:
        """The settings whose keys begin so, by the rest of their keys."""
        keys = [key for key in self._settings if key.startswith(prefix) and key != prefix]
        taken = {key.removeprefix(prefix): self.take(key, means=means, secret=secret) for key in keys}
        return {key: setting for key, setting in taken.items() if setting}

    def text(self, *keys: str, means: str) -> str | None:
        """A value without the spaces around it; ``None`` when it is empty or not there."""
        found = self.take(*keys, means=means)
        return (found.value.strip() or None) if found else None

    def secret(self, *keys: str, means: str) -> Secret | None:
        """A value as it is; ``None`` when it is empty or not there."""
        found = self.take(*keys, means=means, secret=True)
        return found.secret if found and found.value else None

    def flag(self, *keys: str, otherwise: bool, means: str) -> bool:
        """:raises ConfigError: when the value must be true or false."""
        found = self.take(*keys, means=means)
        if found is None or not found.value.strip():
            return otherwise
        word = found.value.strip().lower()
        if word not in ("true", "false"):
            raise found.wrong("must be true or false")
        return word == "true"

    def seconds(self, *keys: str, means: str) -> float | None:
        """Of a number of milliseconds, as Java's and librdkafka's clients count.

        :raises ConfigError: when it is none above zero.
        """
        found = self.take(*keys, means=means)
        if found is None:
            return None
        if not re.fullmatch("0{0,99}[1-9][0-9]{0,11}", found.value.strip()):
            raise found.wrong("must be a positive number of milliseconds")
        if found.written is not None:  # a flag, or a profile's word, which count in seconds
            self.understood[-1] = self.understood[-1]._replace(value=f"{int(found.value)} ms")
        return int(found.value) / 1000

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._settings.values())

    def left(self) -> list[Setting]:
        """What nobody took, in the order given."""
        return [setting for setting in self if setting.key not in self._taken]


def path_of_url(setting: Setting) -> str:
    """The path that a ``file:`` URL names.

    :raises ConfigError: when it is none.
    """
    from urllib.parse import unquote, urlsplit

    try:
        return unquote(urlsplit(setting.value.strip()).path)
    except ValueError:  # an address in brackets that is none
        raise setting.wrong("must be a file URL (file:///PATH)") from None


def is_secret(key: str) -> bool:
    """Whether a key's name says that its value is for nobody's eyes."""
    return bool(_SECRET.search(key))
