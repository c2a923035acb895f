"""Record the responses to a change in its journal, group by group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.operations.journal import Journal
from kgroups.protocol.error_codes import BACK_OFF, DOUBTFUL, MOVED, KafkaError

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)


class Witness(Generic[K, R, T_contra]):
    """Records in the journal of a change what is sent, and what brokers respond."""

    def __init__(
        self,
        journal: Journal[K, R],
        keys: Callable[[GroupId], Iterable[K]],
        results: Callable[[Node, GroupId, T_contra], Mapping[K, R]],
    ) -> None:
        """Create a witness.

        :param keys: returns the keys of a group in the journal.
        :param results: returns the results in a response about a group.
        """
        self._journal = journal
        self._keys = keys
        self._results = results

    @property
    def stopped(self) -> str | None:
        """The reason why nothing more may be sent."""
        return self._journal.stopped

    def sending(self, groups: Iterable[GroupId]) -> None:
        """Record that a request about these groups is sent.

        :raises NotSent: if nothing more may be sent.
        """
        self._journal.sending(key for group in groups for key in self._keys(group))

    def unsent(self, groups: Iterable[GroupId]) -> None:
        """Record that a request about these groups was not sent after all, or will be sent again."""
        self._journal.unsent(key for group in groups for key in self._keys(group))

    def answered(self, node: Node, group: GroupId, reply: T_contra | KafkaError) -> None:
        """Record a response; after an error that changed nothing and is retried, the request counts as not sent."""
        if not isinstance(reply, KafkaError):
            self._journal.enter(self._results(node, group, reply))
        elif reply.code not in DOUBTFUL and (reply.code in MOVED or reply.code in BACK_OFF):
            self.unsent((group,))
