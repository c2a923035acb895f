"""Read the overrides of ``-X``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kgroups.errors import UsageError

from .permissions import permission_warning
from .properties import read_bounded
from .settings_reader import Setting, is_secret


def settings_of_overrides(overrides: Iterable[str], warnings: list[str]) -> Iterator[Setting]:
    """Yield the settings of ``KEY=VALUE``, ``KEY=@FILE`` (contents of the file) and ``KEY=@@...`` (a literal ``@``).

    :param warnings: insecure overrides are appended here, one line each.
    :raises UsageError: if an override has none of these forms.
    :raises ConfigError: if a file cannot be read.
    """
    for text in overrides:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError("-X must be KEY=VALUE, such as -X security.protocol=SSL")
        if value.startswith("@@"):
            value = value[1:]
        elif value.startswith("@"):
            path = Path(value[1:])
            value = read_bounded(path, f"-X {key}").decode("utf-8", "surrogateescape").rstrip("\r\n")
            if is_secret(key):
                warnings.extend(filter(None, [permission_warning(path, "a secret")]))
            yield Setting(key, value, "-X")
            continue
        if is_secret(key) and value and not value.startswith("${"):
            warnings.append(
                f"-X {key}: visible to every user of this machine in the process list; use {key}=@FILE, or "
                f"{key}='${{env:NAME}}'"
            )
        yield Setting(key, value, "-X")
