"""The result of every method of the Python API: items, and everything that is missing from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from kgroups.errors import EXIT_FAILED, EXIT_OK, KgroupsError, MissingPackage, Reason
from kgroups.model.groups import is_glob
from kgroups.model.outcome import Failure
from kgroups.model.outcome import Outcome as ModelOutcome
from kgroups.model.permissions import Acl

from .undo import Change, SettingsChange

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

T = TypeVar("T")


class PartialFailure(KgroupsError):
    """A result is incomplete, and :meth:`Outcome.raise_for_failures` was called.

    The message, the reason, and the hint are those of the first failure.

    Attributes:
        failures: One for each group, topic, partition, or broker without a result.
    """

    def __init__(self, message: str, failures: tuple[Failure, ...]) -> None:
        first = failures[0] if failures else None
        super().__init__(message, reason=first and first.reason, hint=first and first.hint)
        self.failures = failures


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """Items of a result, and everything that is missing from them.

    Iterating over an outcome iterates over its items. An outcome with ``failures`` is incomplete: call
    :meth:`raise_for_failures` where that is an error.

    Attributes:
        items: What the brokers returned, sorted by group.
        failures: One for each group, topic, partition, or broker without a result.
        notices: Remarks that are not failures.
        missing_acls: Permissions without which brokers leave groups or topics out without an error.
        change: What was changed, for ``undo``; None if nothing was.

    Example:
        >>> for row in cluster.lag("orders").raise_for_failures():
        ...     print(row.group, row.total_lag)
    """

    items: tuple[T, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    missing_acls: tuple[Acl, ...] = ()
    change: Change | SettingsChange | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, outcome: ModelOutcome[T], change: Change | SettingsChange | None = None) -> Outcome[T]:
        """Return the public form of an outcome of :mod:`kgroups.admin`."""
        failures = tuple(map(_hinted, outcome.failures))
        return cls(outcome.items, failures, outcome.notices, tuple(outcome.missing_acls()), change)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        """Raise an error: "has items" and "is complete" are different questions.

        Raises:
            TypeError: Always.
        """
        raise TypeError("an Outcome is neither true nor false; use .items or .failures")

    @property
    def exit_code(self) -> int:
        """The exit code that a command ends with: 0 if the result is complete, otherwise 1."""
        return EXIT_FAILED if self.failures else EXIT_OK

    def raise_for_failures(self) -> Self:
        """Return this outcome if it is complete.

        Raises:
            PartialFailure: If there are failures; ``failures`` has all of them.
        """
        if self.failures:
            raise PartialFailure(summary(self.failures), self.failures)
        return self

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the items as dictionaries, with the keys and values of ``--output json``.

        A described group has the keys of ``describe --state`` and ``member_details``, a list with the keys of
        ``describe --members``, or None if Kafka does not report the members.
        """
        from .records import record_of

        return [record_of(item) for item in self.items]

    def to_arrow(self) -> pyarrow.Table:
        """Return the items as an Arrow table.

        Raises:
            MissingPackage: If pyarrow is not installed.
        """
        try:
            import pyarrow
        except ImportError:
            raise _missing("pyarrow") from None
        return pyarrow.Table.from_pylist(self.to_dicts())

    def to_pandas(self) -> pandas.DataFrame:
        """Return the items as a pandas data frame.

        Raises:
            MissingPackage: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise _missing("pandas") from None
        return pandas.DataFrame(self.to_dicts())

    def to_polars(self) -> polars.DataFrame:
        """Return the items as a polars data frame.

        Raises:
            MissingPackage: If polars is not installed.
        """
        try:
            import polars
        except ImportError:
            raise _missing("polars") from None
        return polars.DataFrame(self.to_dicts(), infer_schema_length=None)


def _hinted(failure: Failure) -> Failure:
    """Return the failure of a group that does not exist with a hint if its name is a glob, as commands take them."""
    if failure.reason is Reason.GROUP_NOT_FOUND and not failure.hint and is_glob(failure.name):
        return failure._replace(hint="select groups by a pattern with regex=; group IDs are literal")
    return failure


def summary(failures: tuple[Failure, ...]) -> str:
    first, more = failures[0], len(failures) - 1
    name = first.name.removeprefix(f"{first.scope.value} ")
    text = f"{first.scope.value} {name}: {first.message}"
    return f"{text} (and {more:,} more)" if more else text


def _missing(package: str) -> MissingPackage:
    return MissingPackage(f"{package} is not installed; run: pip install {package}")
