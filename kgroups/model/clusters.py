"""Merge the answers of several clusters into one: each item with the name of its cluster."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from kgroups.errors import Reason

from .outcome import NOT_FOUND, Failure, NoMatch, Outcome, Scope

T = TypeVar("T")

_ABSENT = (NOT_FOUND, "UNKNOWN_TOPIC_OR_PARTITION")
_HAS_MEMBERS = "NON_EMPTY_GROUP"
_REJECTIONS = frozenset(
    {
        Reason.CHANGED,
        Reason.NOT_APPLICABLE,
        Reason.NOT_SAVED,
        Reason.OFFSETS_HIDDEN,
        Reason.STILL_COMMITTING,
        Reason.VERSION_UNSUPPORTED,
    }
)
"""The reasons not to change a group that kgroups finds in its own data, and not in the response to a request."""


class ClusterAnswer(NamedTuple):
    """The answer of one cluster; ``cluster_id`` is ``None`` if it was not reached, or is too old to have one."""

    cluster: str
    cluster_id: str | None
    outcome: Outcome[Any]

    @property
    def failed(self) -> bool:
        """Whether the cluster could not be queried at all."""
        return any(failure.scope is Scope.CLUSTER and failure.name == self.cluster for failure in self.outcome.failures)

    @property
    def incomplete(self) -> bool:
        """Whether something is unknown; groups that do not exist, or that must not be changed, are known."""
        return not all(_is_absent(each) or _is_rejected(each) for each in self.outcome.failures)

    @property
    def refused(self) -> bool:
        """Whether there are only failures, so that another principal may get more."""
        return self.incomplete and not self.outcome.items


def merge_clusters(
    answers: Iterable[ClusterAnswer],
    joined: Callable[[str, Any], T],
    wanted: Container[tuple[Scope, str]] = (),
) -> tuple[Outcome[T], tuple[ClusterAnswer, ...]]:
    """Return the items of all clusters, each with the name of its cluster; and the answers that they are from.

    A cluster that was queried as two profiles counts once, as the first of them.

    :param joined: returns the name of a cluster and one of its items as one value.
    :param wanted: scope and name of the selected groups and topics. One that some clusters lack is a failure only if
        all of them lack it; if one was not reached, it is a failure of each of the others.
    """
    kept, notices = distinct(answers)
    reached = [each for each in kept if not each.failed]
    absent = [{(each.scope, each.name) for each in answer.outcome.failures if _is_absent(each)} for answer in reached]
    everywhere = set.intersection(*absent) if absent else set()
    items: list[T] = []
    failures: dict[Failure, None] = {}
    for cluster, _, outcome in kept:
        items += [joined(cluster, item) for item in outcome.items]
        for failure in outcome.failures:
            key = failure.scope, failure.name
            if not (_is_absent(failure) and key in wanted):
                failures[failure._replace(cluster=cluster)] = None
            elif key in everywhere:
                everyone = len(reached) == len(kept)
                failures[failure._replace(broker=None) if everyone else failure._replace(cluster=cluster)] = None
        notices += [f"{cluster}: {notice}" for notice in outcome.notices if not isinstance(notice, NoMatch)]
    if not items and not failures:
        notices += list(dict.fromkeys(n for each in kept for n in each.outcome.notices if isinstance(n, NoMatch)))
    hidden_by = dict.fromkeys(acl for each in kept for acl in each.outcome.hidden_by)
    needed = dict.fromkeys(acl for each in kept for acl in each.outcome.needed)
    return Outcome(tuple(items), tuple(failures), tuple(notices), tuple(hidden_by), tuple(needed)), tuple(kept)


def _is_absent(failure: Failure) -> bool:
    """Return whether nothing has this name, or a pattern, which is a failure without a name, matches nothing."""
    return failure.error in _ABSENT or (failure.scope is Scope.CLUSTER and not failure.name)


def _is_rejected(failure: Failure) -> bool:
    """Return whether a group must not be changed: it has members, or kgroups found another reason in its own data."""
    if failure.scope in (Scope.CLUSTER, Scope.BROKER):
        return False
    return failure.error == _HAS_MEMBERS or (failure.reason in _REJECTIONS and not (failure.error or failure.api))


def distinct(answers: Iterable[ClusterAnswer]) -> tuple[list[ClusterAnswer], list[str]]:
    """Return each cluster once, as the first profile that answered for it, and notices about the others.

    A profile that was refused is kept for its failures; another one of the cluster was then queried.
    """
    names: dict[str, str] = {}
    kept: list[ClusterAnswer] = []
    notices: list[str] = []
    for answer in answers:
        first = answer.cluster
        if answer.cluster_id and not answer.refused:
            first = names.setdefault(answer.cluster_id, answer.cluster)
        if first == answer.cluster:
            kept.append(answer)
        else:
            notices.append(f"{answer.cluster} and {first} are the same cluster, shown once, as {first}")
    return kept, notices


def ids_of(answers: Sequence[ClusterAnswer]) -> dict[str, str | None]:
    """Return the IDs of clusters by their names."""
    return {each.cluster: each.cluster_id for each in answers}
