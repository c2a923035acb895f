"""Set the default profile: edit one line of a file that the user maintains."""

from __future__ import annotations

import json
import re
import tomllib

from kgroups.errors import ConfigError

from .profiles import Profiles
from .replace_file import replace_file

_DEFAULT = re.compile(
    r"""^([ \t]*(?:default|"default"|'default')[ \t]*=[ \t]*)("(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*')""", re.MULTILINE
)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def set_default(profiles: Profiles, name: str) -> None:
    """Set the default profile in the file, atomically; comments, order and the file mode are preserved.

    :raises ConfigError: if the file cannot be written, or cannot be edited safely.
    """
    text = with_default(profiles.text, name)
    if text is None:
        raise ConfigError(f'{profiles.file}: cannot edit this file safely; add default = "{name}" yourself')
    replace_file(profiles.file, text)


def quoted(text: str) -> str:
    """Return a text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def without_default(text: str) -> str:
    """Return the same TOML without the line of the default profile."""
    first = _TABLE.search(text)
    found = _DEFAULT.search(text, 0, first.start() if first else len(text))
    if not found:
        return text
    end = text.find("\n", found.end())
    return text[: found.start()] + (text[end + 1 :] if end >= 0 else "")


def with_default(text: str, name: str) -> str | None:
    """Return the same TOML with this default; ``None`` if the edit would change anything else."""
    before = tomllib.loads(text)
    value = quoted(name)
    first = _TABLE.search(text)
    head = first.start() if first else len(text)
    found = _DEFAULT.search(text, 0, head)
    if found:
        edited = f"{text[: found.start(2)]}{value}{text[found.end(2) :]}"
    else:
        end = "\r\n" if "\r\n" in text else "\n"
        edited = f"default = {value}{end}{text}"
    try:
        after = tomllib.loads(edited)
    except tomllib.TOMLDecodeError:
        return None
    return edited if after == {**before, "default": name} else None
