"""Add and remove ACLs over the plaintext listener."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kgroups.errors import SandboxError

from ..topics import admin_client

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

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
    types = _types()
    resource, pattern = types.ResourceType.ANY, types.ResourcePatternType.ANY
    operation = (types.AclOperation.ANY, types.AclPermissionType.ANY)
    return types.AclBindingFilter(resource, None, pattern, user and f"User:{user}", None, *operation)


def _until(admin: AdminClient, wanted: Any, reached: Callable[[set[Any]], bool]) -> None:
    """Wait until the ACLs are as expected: a broker receives them from the controller with a delay."""
    until = time.monotonic() + _TIMEOUT
    while not reached(set(_result(admin.describe_acls(wanted, request_timeout=_TIMEOUT)))):
        if time.monotonic() > until:
            raise SandboxError(f"the brokers did not apply the ACLs in {_TIMEOUT:g} s")
        time.sleep(_POLL)


def _binding(acl: Acl) -> Any:
    types = _types()
    return types.AclBinding(
        # librdkafka has one name for the resource that Kafka calls CLUSTER in ACLs and BROKER in configurations.
        types.ResourceType["BROKER" if acl.resource.lower() == "cluster" else acl.resource.upper()],
        acl.name,
        types.ResourcePatternType.PREFIXED if acl.prefixed else types.ResourcePatternType.LITERAL,
        f"User:{acl.user}",
        "*",
        types.AclOperation[acl.operation.upper()],
        types.AclPermissionType.DENY if acl.deny else types.AclPermissionType.ALLOW,
    )


def _types() -> Any:
    """Return the module as ``Any``: its type annotations lack these classes."""
    import confluent_kafka.admin

    return confluent_kafka.admin


def _await(futures: Iterable[Any]) -> None:
    for future in futures:
        _result(future)


def _result(future: Any) -> Any:
    from confluent_kafka import KafkaException

    try:
        return future.result(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"the brokers rejected the ACLs: {error}") from None
    except TimeoutError:
        raise SandboxError(f"the brokers did not accept the ACLs in {_TIMEOUT:g} s") from None
