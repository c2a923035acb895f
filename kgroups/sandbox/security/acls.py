"""Who may do what: ACLs as the brokers keep them, added and taken away over the plain listener."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kgroups.errors import SandboxError

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

_TIMEOUT: Final = 60.0
_POLL: Final = 0.02
_CLUSTER: Final = "kafka-cluster"


class Acl(NamedTuple):
    """One that allows or denies a user one operation, in Kafka's words and any case: ``Acl("ann", "describe", "group",
    "orders")``. The cluster's needs no name."""

    user: str
    operation: str
    """``read``, ``describe``, ``delete``, ``alter``, ``all`` ..."""
    resource: str
    """``group``, ``topic``, ``cluster``, ``transactional_id``."""
    name: str = _CLUSTER
    prefixed: bool = False
    """Whether the name is the beginning of names."""
    deny: bool = False


def add_acls(bootstrap: str, *acls: Acl) -> None:
    """Adds them, and returns when they are in force (with several brokers: on the one that is asked).

    :param bootstrap: of the plain listener, on which everything is allowed.
    :raises SandboxError: when the brokers do not take them.
    """
    admin = _admin(bootstrap)
    bindings = [_binding(acl) for acl in acls]
    _await(admin.create_acls(bindings, request_timeout=_TIMEOUT).values())
    _until(admin, _filter(None), lambda found: found.issuperset(bindings))


def remove_acls(bootstrap: str, user: str) -> None:
    """Takes away all that name that user, and returns when they are in force no more.

    :raises SandboxError: when the brokers do not.
    """
    admin = _admin(bootstrap)
    theirs = _filter(user)
    _await(admin.delete_acls([theirs], request_timeout=_TIMEOUT).values())
    _until(admin, theirs, lambda found: not found)


def _filter(user: str | None) -> Any:
    """All that name that user, or anybody."""
    words = _words()
    resource, pattern = words.ResourceType.ANY, words.ResourcePatternType.ANY
    act = (words.AclOperation.ANY, words.AclPermissionType.ANY)
    return words.AclBindingFilter(resource, None, pattern, user and f"User:{user}", None, *act)


def _until(admin: AdminClient, wanted: Any, reached: Callable[[set[Any]], bool]) -> None:
    """A broker goes by what it has heard from the controller, which is a little later than the controller's answer."""
    until = time.monotonic() + _TIMEOUT
    while not reached(set(_result(admin.describe_acls(wanted, request_timeout=_TIMEOUT)))):
        if time.monotonic() > until:
            raise SandboxError(f"the brokers did not take the ACLs in {_TIMEOUT:g} s")
        time.sleep(_POLL)


def _binding(acl: Acl) -> Any:
    words = _words()
    return words.AclBinding(
        # librdkafka has one word for the resource that Kafka calls CLUSTER among ACLs and BROKER among settings.
        words.ResourceType["BROKER" if acl.resource.lower() == "cluster" else acl.resource.upper()],
        acl.name,
        words.ResourcePatternType.PREFIXED if acl.prefixed else words.ResourcePatternType.LITERAL,
        f"User:{acl.user}",
        "*",
        words.AclOperation[acl.operation.upper()],
        words.AclPermissionType.DENY if acl.deny else words.AclPermissionType.ALLOW,
    )


def _words() -> Any:
    """The module as it is: its types do not say that it has these classes."""
    import confluent_kafka.admin

    return confluent_kafka.admin


def _admin(bootstrap: str) -> AdminClient:
    from confluent_kafka.admin import AdminClient

    return AdminClient({"bootstrap.servers": bootstrap, "client.id": "kgroups-sandbox", "log_level": 3})


def _await(futures: Iterable[Any]) -> None:
    for future in futures:
        _result(future)


def _result(future: Any) -> Any:
    from confluent_kafka import KafkaException

    try:
        return future.result(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"the brokers did not take the ACLs: {error}") from None
    except TimeoutError:
        raise SandboxError(f"the brokers did not take the ACLs in {_TIMEOUT:g} s") from None
