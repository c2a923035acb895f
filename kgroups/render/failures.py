"""Write failures and notices as lines for stderr: what failed, why, and where. Similar failures become one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgroups.model.counts import count, some
from kgroups.model.outcome import NOT_FOUND, Failure, Scope
from kgroups.model.visible import escape_message

from .cells import escape

PROGRAM = "kgroups"
_WIDEST_FIRST = {scope: place for place, scope in enumerate(Scope)}


def notice_lines(notices: Iterable[str]) -> Iterator[str]:
    for notice in notices:
        yield f"{PROGRAM}: note: {escape_message(notice)}"


def hint_lines(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield one line for each distinct hint."""
    for hint in dict.fromkeys(failure.hint for failure in failures if failure.hint):
        yield f"{PROGRAM}: hint: {escape_message(hint)}"


def reference_lines(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield one line for each section of the documentation about the reasons."""
    for reference in dict.fromkeys(failure.reference for failure in failures if failure.reference):
        yield f"{PROGRAM}: reference: {reference}"


def failure_lines(failures: Iterable[Failure], program: str = PROGRAM) -> Iterator[str]:
    """Yield a line that starts with ``program`` for each set of failures that differ only in the name."""
    similar: dict[tuple[object, ...], list[Failure]] = {}
    for failure in sorted(
        map(_without_source, failures), key=lambda failure: (_WIDEST_FIRST[failure.scope], failure.sort_key())
    ):
        key = (
            failure.cluster,
            failure.scope,
            failure.error,
            failure.general or failure.message,
            failure.api,
            failure.broker,
        )
        similar.setdefault(key, []).append(failure)
    for failures_of_key in similar.values():
        names = list(dict.fromkeys(failure.name for failure in failures_of_key))
        first = failures_of_key[0]
        line = _one(first) if len(names) == 1 else _many(first, names)
        of_cluster = f"cluster {escape(first.cluster)}: " if first.cluster and first.scope is not Scope.CLUSTER else ""
        yield f"{program}: {of_cluster}{line}"


def _without_source(failure: Failure) -> Failure:
    """Remove API and broker from the failure of a missing group, where they are irrelevant."""
    return failure._replace(api=None, broker=None) if failure.error == NOT_FOUND else failure


def _one(failure: Failure) -> str:
    return f"{_subject(failure.scope, escape(failure.name))}: {_reason(failure)}"


def _many(failure: Failure, names: Sequence[str]) -> str:
    general = failure._replace(message=failure.general or failure.message)
    return f"{count(len(names), failure.scope.value)}: {_reason(general)}: {some([escape(name) for name in names])}"


def _subject(scope: Scope, name: str) -> str:
    if scope is Scope.CLUSTER:
        return f"cluster {name}".rstrip()
    if scope is Scope.BROKER:
        return name if name.startswith("broker ") else f"broker {name}"
    return f"{scope.value} '{name}'"


def _reason(failure: Failure) -> str:
    broker = None if failure.broker is None or failure.scope is Scope.BROKER else f"broker {failure.broker}"
    source = ", ".join(filter(None, (failure.error, failure.api, broker)))
    return escape(f"{failure.message} [{source}]" if source else failure.message)
