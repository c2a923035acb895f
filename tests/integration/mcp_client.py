"""A process of ``kgroups mcp``, and the client of the package ``mcp`` that talks to it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, InitializeResult, Tool

LIMIT = 90.0
"""Seconds that one call may take, far above any ``--timeout``."""


class ToolClient:
    """Calls tools; ``seen`` is every text that the server has sent."""

    def __init__(self, portal: BlockingPortal, session: ClientSession, log: TextIO) -> None:
        self._portal = portal
        self._session = session
        self._log = log
        self._read = ""
        self.seen: list[str] = []
        self.greeting: InitializeResult = portal.call(session.initialize)

    @property
    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._portal.call(self._session.list_tools).tools}

    @property
    def log(self) -> str:
        """What the server has written to stderr."""
        if not self._log.closed:
            self._log.seek(0)
            self._read = self._log.read()
        return self._read

    def call(self, name: str, **arguments: Any) -> CallToolResult:
        result: CallToolResult = self._portal.call(self._session.call_tool, name, arguments, LIMIT)
        self.seen.append(result.model_dump_json())
        return result

    def document(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a call that has one; the client has compared it with the schema of the tool."""
        result = self.call(name, **arguments)
        assert not result.is_error, result.content
        found: dict[str, Any] = result.structured_content
        assert json.loads(result.content[0].text) == found
        return found


@contextmanager
def tool_client(*words: str) -> Iterator[ToolClient]:
    """Start ``kgroups mcp`` with these options; it must end with its client, and leave no traceback."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "kgroups", "mcp", *words], env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log, start_blocking_portal() as portal:
        with (
            portal.wrap_async_context_manager(stdio_client(server, errlog=log)) as streams,
            portal.wrap_async_context_manager(ClientSession(*streams)) as session,
        ):
            client = ToolClient(portal, session, log)
            yield client
        assert "Traceback" not in client.log, client.log
