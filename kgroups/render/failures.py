"""Failures and notices as lines for stderr: what failed, why, and who said so. Many of a kind become one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgroups.model.counts import count, some
from kgroups.model.outcome import NOT_FOUND, Failure, Scope

from .cells import escape

PROGRAM = "kgroups"
_WIDEST_FIRST = {scope: place for place, scope in enumerate(Scope)}


def notice_lines(notices: Iterable[str]) -> Iterator[str]:
    for notice in notices:
        yield f"{PROGRAM}: note: {escape(notice)}"


def hint_lines(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield one line for each distinct hint."""
    for hint in dict.fromkeys(failure.hint for failure in failures if failure.hint):
        yield f"{PROGRAM}: hint: {escape(hint)}"


def failure_lines(failures: Iterable[Failure], program: str = PROGRAM) -> Iterator[str]:
    """One line for each kind of failure, begun with ``program``; failures that differ only in the name are one kind."""
    kinds: dict[tuple[object, ...], list[Failure]] = {}
    for failure in sorted(map(_told, failures), key=lambda failure: (_WIDEST_FIRST[failure.scope], failure.sort_key())):
        kind = (failure.scope, failure.error, failure.general or failure.message, failure.api, failure.broker)
        kinds.setdefault(kind, []).append(failure)
    for alike in kinds.values():
        names = list(dict.fromkeys(failure.name for failure in alike))
        line = _one(alike[0]) if len(names) == 1 else _many(alike[0], names)
        yield f"{program}: {line}"


def _told(failure: Failure) -> Failure:
    """A group that is not there is not there: who was asked for it, and how, says nothing more of it."""
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
    said_by = ", ".join(filter(None, (failure.error, failure.api, broker)))
    return escape(f"{failure.message} [{said_by}]" if said_by else failure.message)
