"""A token for OAUTHBEARER."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.config.secret import Secret


class Token(NamedTuple):
    """A token and its remaining lifetime in seconds; ``None``: unknown."""

    value: Secret
    lifetime: float | None = None
