"""What Schema Registries put into their group (protocol type ``sr``): JSON, of Confluent's and of Karapace alike.

Both write ``master``, Confluent's to 8.3 and Karapace to 6.2; ``leader``, their word for it elsewhere, is read too.
"""

from __future__ import annotations

from typing import Any

from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.model.embedded.schema_registry import RegistryAssignment, RegistryIdentity

LARGEST = 65_536
"""Bytes. An identity is a hundred."""


def decode_identity(data: bytes, protocol: str) -> Subscription:
    """Who a registry is; never raises."""
    told = _json(data)
    if isinstance(told, Raw):
        return Subscription(raw=told)
    identity = _identity(told)
    if identity is None:
        return Subscription(raw=Raw(data, "JSON without a host and a port"))
    return Subscription(version=identity.version, user_data=identity)


def decode_leader(data: bytes, protocol: str) -> Assignment:
    """Who leads; never raises."""
    told = _json(data)
    if isinstance(told, Raw):
        return Assignment(raw=told)
    leader, who = told.get("leader", told.get("master")), told.get("leader_identity", told.get("master_identity"))
    found = RegistryAssignment(
        version=_number(told.get("version")),
        error=_number(told.get("error")),
        leader=leader if isinstance(leader, str) else None,
        identity=_identity(who) if isinstance(who, dict) else None,
    )
    if not {"leader", "master", "error"} & told.keys():
        return Assignment(raw=Raw(data, "JSON without a leader"))
    return Assignment(version=found.version, user_data=found)


def _identity(told: dict[str, Any]) -> RegistryIdentity | None:
    host, port, scheme = told.get("host"), _number(told.get("port")), told.get("scheme")
    eligible = told.get("leader_eligibility", told.get("master_eligibility"))
    if not isinstance(host, str) or port is None:
        return None
    return RegistryIdentity(
        version=_number(told.get("version")),
        scheme=scheme if isinstance(scheme, str) else "http",
        host=host,
        port=port,
        eligible=eligible if isinstance(eligible, bool) else None,
    )


def _json(data: bytes) -> dict[str, Any] | Raw:
    import json

    if len(data) > LARGEST:
        return Raw(data, f"more than {LARGEST:,} bytes of JSON")
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        return Raw(data, f"no JSON ({type(error).__name__})")
    return told if isinstance(told, dict) else Raw(data, "JSON, but no object")


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
