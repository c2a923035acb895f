"""The iteration order of Java's HashMap and HashSet, which affects the results of some assignors.

The table has 2^n buckets and is doubled when it is more than three quarters full. Iteration visits the buckets in
order, and the entries of a bucket in order of insertion. (Buckets of eight or more entries become trees, whose order
may differ; this is rare unless keys are chosen for it.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

from .shape import TopicPartition

T = TypeVar("T")
_MASK = 0xFFFFFFFF
_LEAST = 16


@lru_cache(maxsize=65536)
def hash_of_text(text: str) -> int:
    """Compute ``String.hashCode()``, unsigned."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(data[::2], data[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & _MASK
    return value


def hash_of_partition(partition: TopicPartition) -> int:
    """Compute ``TopicPartition.hashCode()``, unsigned."""
    topic, number = partition
    return (31 * (31 + number) + hash_of_text(topic)) & _MASK


def hash_of_uuid(value: int) -> int:
    """Compute ``Uuid.hashCode()`` of 128 bits."""
    both = (value >> 64) ^ (value & 0xFFFFFFFFFFFFFFFF)
    return (both >> 32) ^ (both & _MASK)


def grown(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return the order of a map that starts empty, after the keys are inserted in order."""
    once = list(dict.fromkeys(keys))
    size = _LEAST
    while len(once) > size * 3 // 4:
        size *= 2
    return _walk(once, hash_of, size)


def copied(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return the order of ``new HashSet<>(collection)``, whose initial capacity depends on the collection's size."""
    given = list(keys)
    size = _LEAST
    while size < int(len(given) / 0.75) + 1:
        size *= 2
    return _walk(list(dict.fromkeys(given)), hash_of, size)


def _walk(keys: list[T], hash_of: Callable[[T], int], size: int) -> list[T]:
    def bucket(key: T) -> int:
        value = hash_of(key)
        return (value ^ value >> 16) & (size - 1)

    return sorted(keys, key=bucket)  # stable: insertion order within a bucket
