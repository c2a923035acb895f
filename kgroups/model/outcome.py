"""An answer that is honest about its holes: what came back, and what did not.

Rule: a failure that concerns one group, topic, partition or broker among many is a :class:`Failure`, never an
exception, and never a row that silently is not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
U = TypeVar("U")

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2


class Scope(StrEnum):
    """What a failure is about, widest first."""

    CLUSTER = "cluster"
    BROKER = "broker"
    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


class Failure(NamedTuple):
    """One thing that could not be answered.

    ``name`` is the group, topic, ``topic-partition`` or broker; ``error`` is Kafka's name of the error (as in
    GROUP_AUTHORIZATION_FAILED), ``code`` its number; both are ``None`` where no broker said it.
    """

    scope: Scope
    name: str
    message: str
    error: str | None = None
    code: int | None = None
    api: str | None = None
    broker: int | None = None

    def sort_key(self) -> tuple[str, str, str, str, int]:
        return (self.scope.value, self.name, self.api or "", self.message, -1 if self.broker is None else self.broker)


class Outcome(NamedTuple, Generic[T]):
    """What was answered (``items``), what failed (``failures``), and remarks that are not failures (``notices``)."""

    items: tuple[T, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 when all was answered, else 1."""
        return EXIT_FAILED if self.failures else EXIT_OK

    def with_items(self, items: Iterable[U]) -> Outcome[U]:
        """The same failures and notices beside other items."""
        return Outcome(tuple(items), self.failures, self.notices)

    def with_failures(self, failures: Iterable[Failure], notices: Iterable[str] = ()) -> Outcome[T]:
        """The same items, and further failures and notices."""
        return Outcome(self.items, (*self.failures, *failures), (*self.notices, *notices))


def merge(outcomes: Iterable[Outcome[T]]) -> Outcome[T]:
    """Many partial answers as one. Associative; loses no item and no failure; keeps each remark once."""
    items: list[T] = []
    failures: list[Failure] = []
    notices: dict[str, None] = {}
    for outcome in outcomes:
        items += outcome.items
        failures += outcome.failures
        notices.update(dict.fromkeys(outcome.notices))
    return Outcome(tuple(items), tuple(failures), tuple(notices))
