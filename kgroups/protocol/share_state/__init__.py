"""The records of ``__share_group_state``, in which share coordinators store the state of share groups (KIP-932)."""

from __future__ import annotations

from .decode import decode
from .record_types import RECORD_TYPES, SNAPSHOT, UPDATE

__all__ = ["RECORD_TYPES", "SNAPSHOT", "UPDATE", "decode"]
