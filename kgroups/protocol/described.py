"""What the descriptions of KIP-848 groups and of their kin (KIP-932, KIP-1071) have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from kgroups.model.assignment import Assignment, assignment_of
from kgroups.model.groups import GroupId

from .error_codes import Code, KafkaError
from .reader import Reader

T = TypeVar("T")


def best_told(answers: Iterable[tuple[GroupId, T | KafkaError]]) -> dict[GroupId, T | KafkaError]:
    """Of what is told of one group, that of most worth counts: a description, then what is not GROUP_ID_NOT_FOUND."""
    return dict(sorted(answers, key=_worth))


def _worth(answer: tuple[GroupId, object]) -> int:
    _, told = answer
    if not isinstance(told, KafkaError):
        return 2
    return 1 if told.code != Code.group_id_not_found else 0


def read_assignment(reader: Reader) -> Assignment:
    """Topics, each with its id, name and partitions."""
    assignment = assignment_of([_topic(reader) for _ in reader.turns(reader.count())])
    reader.tags()
    return assignment


def _topic(reader: Reader) -> tuple[str, tuple[int, ...]]:
    reader.skip(16)  # the topic's id
    name, partitions = reader.string(), reader.int32s()
    reader.tags()
    return name, partitions
