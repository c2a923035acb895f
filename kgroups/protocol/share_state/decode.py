"""Decode the records of ``__share_group_state``."""

from __future__ import annotations

from typing import Final

from ..record_schemas import RecordDecoder
from .record_types import RECORD_TYPES

decode: Final = RecordDecoder(RECORD_TYPES.values()).decode
