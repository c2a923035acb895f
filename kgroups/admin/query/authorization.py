"""Report the ACLs without which brokers silently omit groups or topics from their responses."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from kgroups.model.outcome import Outcome
from kgroups.model.permissions import DESCRIBE_CLUSTER, OMITTED_COMMITS_NOTICE, OMITTED_GROUPS_NOTICE, Acl
from kgroups.protocol.error_codes import Code

T = TypeVar("T")


def missing_acls(operations: Collection[str] | None) -> tuple[Acl, ...]:
    """Return the missing ACL without which brokers omit groups from lists; empty if it is not missing.

    :param operations: the authorized operations on the cluster; ``None`` if brokers do not report them.
    """
    return () if operations is None or "DESCRIBE" in operations else (DESCRIBE_CLUSTER,)


def note_omitted_groups(outcome: Outcome[T], missing: tuple[Acl, ...]) -> Outcome[T]:
    """Add a notice and the missing ACLs, if any, to an outcome that depends on the list of groups."""
    return outcome.with_failures((), (OMITTED_GROUPS_NOTICE,))._replace(hidden_by=missing) if missing else outcome


def note_omitted_offsets(outcome: Outcome[T], *, known: bool) -> Outcome[T]:
    """Add a notice to an outcome with commits if some may be omitted.

    A principal without DESCRIBE on one topic may lack it on others.

    :param known: whether it is known that the principal cannot see all topics or the whole cluster.
    """
    not_authorized = any(failure.code == Code.topic_authorization_failed for failure in outcome.failures)
    return outcome.with_failures((), (OMITTED_COMMITS_NOTICE,)) if known or not_authorized else outcome
