"""What was made of files, flags and environment: for ``kgroups config check``, and for remarks."""

from __future__ import annotations

import re
from typing import NamedTuple

from .secret import MASK


class EffectiveSetting(NamedTuple):
    """One setting that somebody gave, and what it does here. Nothing in it is secret."""

    key: str
    """As it was written: a file's key, ``sasl.jaas.config: username`` for an option in a JAAS line, or a flag."""
    value: str
    """As it was written, or the mask."""
    origin: str
    """``--timeout``, ``KGROUPS_PROFILE``, ``profile prod (config.toml, line 3)``, ``client.properties, line 7``."""
    meaning: str
    """A few words."""


def shown(value: str, *, secret: bool) -> str:
    """A value for people. Long ones, certificates above all, are cut: what they are is said beside them."""
    if secret:
        return MASK if value else ""
    line = re.sub(r"(://)[^/?#@\s]*@", rf"\1{MASK}@", " ".join(value.split()))  # a name and a password in an address
    line = re.sub(r"(://[^?\s]*\?).*", rf"\1{MASK}", line)  # what stands in a query may be a key
    return line if len(line) <= 80 else f"{line[:60]}... ({len(value)} characters)"
