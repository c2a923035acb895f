"""Effective settings and their origins, for ``kgroups config`` and for warnings."""

from __future__ import annotations

import re
from typing import NamedTuple

from .secret import MASK


class EffectiveSetting(NamedTuple):
    """One setting from a file, a flag, or the environment, and its meaning. It contains no secrets."""

    key: str
    """As written: a key of a file, ``sasl.jaas.config: username`` for an option of a JAAS entry, or a flag."""
    value: str
    """As written, or the mask if it is secret."""
    origin: str
    """``--timeout``, ``KGROUPS_PROFILE``, ``profile prod (config.toml, line 3)``, ``client.properties, line 7``."""
    meaning: str
    """A short description of what the setting does."""


def shown(value: str, *, secret: bool) -> str:
    """Return a value for display, masked if it is secret; long ones such as certificates are truncated."""
    if secret:
        return MASK if value else ""
    line = re.sub(r"(://)[^/?#@\s]*@", rf"\1{MASK}@", " ".join(value.split()))  # user name and password in a URL
    line = re.sub(r"(://[^?\s]*\?).*", rf"\1{MASK}", line)  # a query may contain a key
    return line if len(line) <= 80 else f"{line[:60]}... ({len(value)} characters)"
