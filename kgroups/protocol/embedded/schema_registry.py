"""The metadata of Schema Registries (protocol type ``sr``): JSON, from Confluent's and Karapace.

Both write ``master`` (Confluent's up to 8.3, Karapace up to 6.2); ``leader``, their term elsewhere, is read too.
"""

from __future__ import annotations

import json
from typing import Any

from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.model.embedded.schema_registry import RegistryAssignment, RegistryIdentity

LARGEST = 65_536
"""Bytes. An identity has about a hundred."""


def decode_identity(data: bytes, protocol: str) -> Subscription:
    """Return the identity of a registry; never raise."""
    document = _json(data)
    if isinstance(document, Raw):
        return Subscription(raw=document)
    identity = _identity(document)
    if identity is None:
        return Subscription(raw=Raw(data, "JSON without a host and a port"))
    return Subscription(version=identity.version, user_data=identity)


def decode_leader(data: bytes, protocol: str) -> Assignment:
    """Return the leader of the registries; never raise."""
    document = _json(data)
    if isinstance(document, Raw):
        return Assignment(raw=document)
    leader = document.get("leader", document.get("master"))
    identity = document.get("leader_identity", document.get("master_identity"))
    found = RegistryAssignment(
        version=_number(document.get("version")),
        error=_number(document.get("error")),
        leader=leader if isinstance(leader, str) else None,
        identity=_identity(identity) if isinstance(identity, dict) else None,
    )
    if not {"leader", "master", "error"} & document.keys():
        return Assignment(raw=Raw(data, "JSON without a leader"))
    return Assignment(version=found.version, user_data=found)


def _identity(document: dict[str, Any]) -> RegistryIdentity | None:
    host, port, scheme = document.get("host"), _number(document.get("port")), document.get("scheme")
    eligible = document.get("leader_eligibility", document.get("master_eligibility"))
    if not isinstance(host, str) or port is None:
        return None
    return RegistryIdentity(
        version=_number(document.get("version")),
        scheme=scheme if isinstance(scheme, str) else "http",
        host=host,
        port=port,
        eligible=eligible if isinstance(eligible, bool) else None,
    )


def _json(data: bytes) -> dict[str, Any] | Raw:
    if len(data) > LARGEST:
        return Raw(data, f"more than {LARGEST:,} bytes of JSON")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        return Raw(data, f"not JSON ({type(error).__name__})")
    return document if isinstance(document, dict) else Raw(data, "not a JSON object")


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
