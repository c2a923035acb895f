"""Shared parts of the descriptions of consumer (KIP-848), share (KIP-932), and streams groups (KIP-1071)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from kgroups.model.assignment import Assignment, assignment_of
from kgroups.model.groups import GroupId

from .error_codes import Code, KafkaError
from .reader import Reader

T = TypeVar("T")


def prefer_descriptions(results: Iterable[tuple[GroupId, T | KafkaError]]) -> dict[GroupId, T | KafkaError]:
    """Return one result per group: a description, else an error other than GROUP_ID_NOT_FOUND, else that."""
    return dict(sorted(results, key=_rank))


def _rank(result: tuple[GroupId, object]) -> int:
    _, found = result
    if not isinstance(found, KafkaError):
        return 2
    return 1 if found.code != Code.group_id_not_found else 0


def read_assignment(reader: Reader) -> Assignment:
    """Read the topics of an assignment, each with its ID, name, and partitions."""
    assignment = assignment_of([_topic(reader) for _ in reader.turns(reader.count())])
    reader.tags()
    return assignment


def _topic(reader: Reader) -> tuple[str, tuple[int, ...]]:
    reader.skip(16)  # the topic ID
    name, partitions = reader.string(), reader.int32s()
    reader.tags()
    return name, partitions
