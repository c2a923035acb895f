"""The versions of the APIs that a session requires, apart from their messages, which ``list`` does not load."""

from __future__ import annotations

from .versions import Api

LIST_OFFSETS = Api(2, "ListOffsets", 1, 10, flexible=6)
OFFSET_FETCH = Api(9, "OffsetFetch", 2, 9, flexible=6)
FIND_COORDINATOR = Api(10, "FindCoordinator", 0, 6, flexible=3)
