"""Quotas of clients (KIP-13, KIP-55), and which of them limits a consumer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

_RATE = "consumer_byte_rate"
_USER, _CLIENT = "user", "client-id"


class Quota(NamedTuple):
    """The limits of an entity: type (``user``, ``client-id``, ``ip``) -> name, ``None`` for the default of the type."""

    entity: Mapping[str, str | None]
    limits: Mapping[str, float]


class FetchLimit(NamedTuple):
    """The bytes per second that a broker sends to a consumer, and the entity of the quota, in words."""

    bytes_per_second: float
    entity: str


def fetch_limit(quotas: Iterable[Quota], client_id: str) -> FetchLimit | None:
    """Return the lowest limit that may apply to a client ID; ``None`` if there is none.

    Quotas of users may apply, because brokers do not report which user a member is. The default for client IDs does
    not apply if the same user, or all users, have a quota for this client ID.
    """
    rates = {
        (each.entity.get(_USER, ""), each.entity.get(_CLIENT, "")): rate
        for each in quotas
        if (rate := each.limits.get(_RATE)) is not None and each.entity.keys() <= {_USER, _CLIENT}
    }
    limits = [
        FetchLimit(rate, _in_words(user, client))
        for (user, client), rate in rates.items()
        if client in ("", client_id) or (client is None and (user, client_id) not in rates)
    ]
    return min(limits, default=None)


def _in_words(user: str | None, client: str | None) -> str:
    """Return the entity; an empty name is one that the quota does not have."""
    named = {what: name for what, name in ((_USER, user), ("client ID", client)) if name != ""}
    return " and ".join(f"every {what}" if name is None else f"{what} '{name}'" for what, name in named.items())
