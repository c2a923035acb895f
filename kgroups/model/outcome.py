"""Results that may be partial: the items that were returned, and the failures.

A failure that concerns one of many groups, topics, partitions, or brokers is a :class:`Failure`. It is never an
exception, and never a missing row without a message.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kgroups.errors import EXIT_FAILED, EXIT_OK, reference_of

from .groups import GroupId
from .placement import OFFSETS_TOPIC

if TYPE_CHECKING:
    from kgroups.errors import KgroupsError, Reason

    from .permissions import Acl


T = TypeVar("T")
U = TypeVar("U")

NOT_FOUND = "GROUP_ID_NOT_FOUND"
"""The ``error`` of a :class:`Failure` for a group that does not exist."""


class NoMatch(str):
    """A notice that nothing is selected; the command replaces it by one that says why."""

    __slots__ = ()


NO_MATCH = NoMatch("no group matches")


class Scope(StrEnum):
    """The subjects of failures, widest first."""

    CLUSTER = "cluster"
    BROKER = "broker"
    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


class Failure(NamedTuple):
    """One item that is unavailable, and why.

    ``name`` is the group, topic, ``topic-partition``, or broker. ``error`` is Kafka's name of the error (as in
    GROUP_AUTHORIZATION_FAILED), ``code`` its number; both are ``None`` if no broker reported it. ``acl`` is the missing
    ACL, if that is the cause.
    """

    scope: Scope
    name: str
    message: str
    error: str | None = None
    code: int | None = None
    api: str | None = None
    broker: int | None = None
    acl: Acl | None = None
    reason: Reason | None = None
    """Why, for programs; every failure of kgroups has one. ``error`` is what a broker reported."""
    hint: str | None = None
    """What to do about it, as an imperative."""
    general: str | None = None
    """The message without the name, where it contains that: the same for all failures that differ only in the name."""
    cluster: str | None = None
    """The name of the cluster, if several are queried."""
    state: str | None = None
    """The state of a group that cannot be changed because it has members."""

    @property
    def reference(self) -> str | None:
        """The section of the documentation about the reason, such as ``errors.md#no_response``."""
        return reference_of(self.reason)

    @classmethod
    def of(
        cls, error: KgroupsError, scope: Scope, name: str, *, api: str | None = None, broker: int | None = None
    ) -> Failure:
        """Return an error as the failure of one group, topic, partition, or broker."""
        text = error.text if scope is Scope.BROKER and error.peer == name else str(error)
        return cls(scope, name, text, api=api, broker=broker, reason=error.reason, hint=error.hint)

    def sort_key(self) -> tuple[str, str, str, str, str, int]:
        return (
            self.cluster or "",
            self.scope.value,
            self.name,
            self.api or "",
            self.message,
            -1 if self.broker is None else self.broker,
        )


class Result(StrEnum):
    """The result of one item of a plan. ``UNKNOWN``: it was sent, and no response arrived."""

    APPLIED = "applied"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Outcome(NamedTuple, Generic[T]):
    """A possibly partial result: its items, its failures, and notices, which are not failures.

    ``hidden_by``: without these ACLs, brokers silently omit items, so that the result may be partial.
    ``needed``: without these, brokers will reject the planned change.
    """

    items: tuple[T, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    hidden_by: tuple[Acl, ...] = ()
    needed: tuple[Acl, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 without failures, else 1."""
        return EXIT_FAILED if self.failures else EXIT_OK

    def with_items(self, items: Iterable[U]) -> Outcome[U]:
        """Return the same failures and notices with other items."""
        return Outcome(tuple(items), self.failures, self.notices, self.hidden_by, self.needed)

    def with_failures(self, failures: Iterable[Failure], notices: Iterable[str] = ()) -> Outcome[T]:
        """Return the same items with additional failures and notices."""
        return self._replace(failures=(*self.failures, *failures), notices=(*self.notices, *notices))

    def after(self, earlier: Outcome[Any]) -> Outcome[T]:
        """Return the same items, preceded by the failures and notices of an earlier step."""
        failures, notices = (*earlier.failures, *self.failures), (*earlier.notices, *self.notices)
        hidden_by, needed = (*earlier.hidden_by, *self.hidden_by), (*earlier.needed, *self.needed)
        return Outcome(self.items, failures, notices, hidden_by, needed)

    def missing_acls(self) -> list[Acl]:
        """Return the ACLs without which it failed, may be partial, or will be rejected, each once, sorted."""
        found = {failure.acl for failure in self.failures if failure.acl}
        return sorted(
            found.union(self.hidden_by, self.needed), key=lambda acl: (acl.resource, acl.name or "", acl.operation)
        )


def merge(outcomes: Iterable[Outcome[T]]) -> Outcome[T]:
    """Merge partial results. This is associative, loses no item and no failure, and keeps each notice once."""
    items: list[T] = []
    failures: list[Failure] = []
    notices: dict[str, None] = {}
    hidden_by: dict[Acl, None] = {}
    needed: dict[Acl, None] = {}
    for outcome in outcomes:
        items += outcome.items
        failures += outcome.failures
        notices.update(dict.fromkeys(outcome.notices))
        hidden_by.update(dict.fromkeys(outcome.hidden_by))
        needed.update(dict.fromkeys(outcome.needed))
    return Outcome(tuple(items), tuple(failures), tuple(notices), tuple(hidden_by), tuple(needed))


def hides_groups(failure: Failure) -> bool:
    """Return whether groups may exist that are not listed.

    That is the case if a broker did not respond, or if partitions of the offsets topic have no leader: then no broker
    lists their groups.
    """
    return failure.scope in (Scope.CLUSTER, Scope.BROKER) or (failure.scope, failure.name) == (
        Scope.TOPIC,
        OFFSETS_TOPIC,
    )


def unanswered(failures: Iterable[Failure]) -> frozenset[GroupId] | None:
    """Return the groups that failures name; ``None`` if any missing group may exist."""
    failures = tuple(failures)
    if any(map(hides_groups, failures)):
        return None
    return frozenset(each.name for each in failures if each.scope is Scope.GROUP and each.error != NOT_FOUND)


def is_partial(outcome: Outcome[Any], known: Container[GroupId] = ()) -> bool:
    """Return whether groups may exist that the outcome lacks.

    :param known: the groups that it has, although a failure may name them.
    """
    missing = unanswered(outcome.failures)
    return bool(outcome.hidden_by) or missing is None or any(name not in known for name in missing)
