"""The records of ``__share_group_state``, in which share coordinators store the state of share groups (KIP-932)."""

from __future__ import annotations

from typing import Final

from ..record_schemas import RecordDecoder
from .record_types import RECORD_TYPES, SNAPSHOT, UPDATE

__all__ = ["RECORD_TYPES", "SNAPSHOT", "UPDATE", "decode"]

decode: Final = RecordDecoder(RECORD_TYPES.values()).decode
