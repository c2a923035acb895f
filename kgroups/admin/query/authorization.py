"""What brokers leave out of their answers in silence, for want of an ACL: said, where it is known to be missing."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from kgroups.model.outcome import Outcome
from kgroups.model.permissions import DESCRIBE_CLUSTER, OMITTED_COMMITS_NOTICE, OMITTED_GROUPS_NOTICE, Acl
from kgroups.protocol.error_codes import Code

T = TypeVar("T")


def missing_acls(operations: Collection[str] | None) -> tuple[Acl, ...]:
    """The ACL without which groups are left out of lists.

    :param operations: what we may do to the cluster; ``None``: nobody tells.
    """
    return () if operations is None or "DESCRIBE" in operations else (DESCRIBE_CLUSTER,)


def note_omitted_groups(answer: Outcome[T], missing: tuple[Acl, ...]) -> Outcome[T]:
    """What was selected from the list of groups, with a remark where that may be partial."""
    return answer.with_failures((), (OMITTED_GROUPS_NOTICE,))._replace(hidden_by=missing) if missing else answer


def note_omitted_offsets(answer: Outcome[T], *, known: bool) -> Outcome[T]:
    """What is told of commits, with a remark where some may be hidden: who may not see one topic may not see others
    either.

    :param known: whether it is known beforehand that we may not see every topic or all of the cluster.
    """
    refused = any(failure.code == Code.topic_authorization_failed for failure in answer.failures)
    return answer.with_failures((), (OMITTED_COMMITS_NOTICE,)) if known or refused else answer
