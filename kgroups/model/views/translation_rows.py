"""Rows of ``translate``; those of ``parity`` are :class:`kgroups.model.translation.parity.Compared`."""

from __future__ import annotations

from typing import NamedTuple

IMPOSSIBLE = "impossible"
"""The method of an offset that nothing proves."""


class TranslateRow(NamedTuple):
    """The offset of one partition of one group on one cluster, and where the group continues on another one."""

    group: str
    topic: str
    partition: int
    source_offset: int
    target_topic: str
    old_offset: int | None
    new_offset: int | None
    method: str
    read_again: int | None
    others: int | None
    note: str | None
    result: str | None = None
    error: str | None = None
