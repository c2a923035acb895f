"""The clients of a process that collects: one for queries, and one for records; each logs in once."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from kgroups.config.settings import ClientSettings

from ..extract.reader import LogReader
from ..live.wire_session import WireSession


class Clients:
    """Opens a connection at the first use."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.session = WireSession(settings)
        self.reader = LogReader(settings)

    def close(self) -> None:
        """Close all connections."""
        try:
            self.reader.close()
        finally:
            self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
