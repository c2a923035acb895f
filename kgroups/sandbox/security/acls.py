"""Add and remove ACLs over the plaintext listener."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import confluent_kafka.admin
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kgroups.errors import SandboxError

from ..topics import admin_client

_TYPES: Any = confluent_kafka.admin
"""As ``Any``: its type annotations lack these classes."""

_TIMEOUT: Final = 60.0
_POLL: Final = 0.02
_CLUSTER: Final = "kafka-cluster"


class Acl(NamedTuple):
    """An ACL that allows or denies one operation to a user: ``Acl("ann", "describe", "group", "orders")``.

    Operation and resource are Kafka's names in any case. An ACL on the cluster needs no name.
    """

    user: str
    operation: str
    """``read``, ``describe``, ``delete``, ``alter``, ``all`` ..."""
    resource: str
    """``group``, ``topic``, ``cluster``, ``transactional_id``."""
    name: str = _CLUSTER
    prefixed: bool = False
    """Whether the name is a prefix."""
    deny: bool = False


def add_acls(bootstrap: str, *acls: Acl) -> None:
    """Add ACLs, and return when they are in effect (with several brokers: on the broker that responds).

    :param bootstrap: the bootstrap servers of the plaintext listener, which allows everything.
    :raises SandboxError: when the brokers do not accept them.
    """
    admin = admin_client(bootstrap)
    bindings = [_binding(acl) for acl in acls]
    _await(admin.create_acls(bindings, request_timeout=_TIMEOUT).values())
    _until(admin, _filter(None), lambda found: found.issuperset(bindings))


def remove_acls(bootstrap: str, user: str) -> None:
    """Remove all ACLs of a user, and return when they are no longer in effect.

    :raises SandboxError: when the brokers do not.
    """
    admin = admin_client(bootstrap)
    theirs = _filter(user)
    _await(admin.delete_acls([theirs], request_timeout=_TIMEOUT).values())
    _until(admin, theirs, lambda found: not found)


def _filter(user: str | None) -> Any:
    """Return the filter for all ACLs of that user, or of any."""
    resource, pattern = _TYPES.ResourceType.ANY, _TYPES.ResourcePatternType.ANY
    operation = (_TYPES.AclOperation.ANY, _TYPES.AclPermissionType.ANY)
    return _TYPES.AclBindingFilter(resource, None, pattern, user and f"User:{user}", None, *operation)


def _until(admin: AdminClient, wanted: Any, reached: Callable[[set[Any]], bool]) -> None:
    """Wait until the ACLs are as expected: a broker receives them from the controller with a delay."""
    until = time.monotonic() + _TIMEOUT
    while not reached(set(_result(admin.describe_acls(wanted, request_timeout=_TIMEOUT)))):
        if time.monotonic() > until:
            raise SandboxError(f"the brokers did not apply the ACLs in {_TIMEOUT:g} s")
        time.sleep(_POLL)


def _binding(acl: Acl) -> Any:
    return _TYPES.AclBinding(
        # librdkafka has one name for the resource that Kafka calls CLUSTER in ACLs and BROKER in configurations.
        _TYPES.ResourceType["BROKER" if acl.resource.lower() == "cluster" else acl.resource.upper()],
        acl.name,
        _TYPES.ResourcePatternType.PREFIXED if acl.prefixed else _TYPES.ResourcePatternType.LITERAL,
        f"User:{acl.user}",
        "*",
        _TYPES.AclOperation[acl.operation.upper()],
        _TYPES.AclPermissionType.DENY if acl.deny else _TYPES.AclPermissionType.ALLOW,
    )


def _await(futures: Iterable[Any]) -> None:
    for future in futures:
        _result(future)


def _result(future: Any) -> Any:
    try:
        return future.result(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"the brokers rejected the ACLs: {error}") from None
    except TimeoutError:
        raise SandboxError(f"the brokers did not accept the ACLs in {_TIMEOUT:g} s") from None
