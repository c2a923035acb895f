"""What ``-X`` says on a command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kgroups.errors import UsageError

from .permissions import permission_warning
from .properties import read_bounded
from .settings_reader import Setting, is_secret


def settings_of_overrides(overrides: Iterable[str], remarks: list[str]) -> Iterator[Setting]:
    """``KEY=VALUE``, ``KEY=@FILE`` for what the file holds, ``KEY=@@...`` for a value that begins with @.

    :param remarks: takes what is dangerous, one line each.
    :raises UsageError: for one that is none of these.
    :raises ConfigError: for a file that cannot be read.
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
                remarks.extend(filter(None, [permission_warning(path, "a secret")]))
            yield Setting(key, value, "-X")
            continue
        if is_secret(key) and value and not value.startswith("${"):
            remarks.append(
                f"-X {key}: visible to every user of this machine in the process list; use {key}=@FILE, or "
                f"{key}='${{env:NAME}}'"
            )
        yield Setting(key, value, "-X")
