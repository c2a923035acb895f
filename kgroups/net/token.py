"""A token for OAUTHBEARER."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.config.secret import Secret


class Token(NamedTuple):
    """A token, and how many seconds it is good for from now: ``None`` when nobody says."""

    value: Secret
    lifetime: float | None = None
