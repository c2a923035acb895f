"""Items of outcomes of several clusters."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class InCluster(NamedTuple, Generic[T]):
    """An item, and the profile of its cluster."""

    cluster: str
    item: T
