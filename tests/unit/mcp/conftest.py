"""A server of tools in this process, with the client of the package ``mcp``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.main import cli
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.mcp.bounds import Bounds
from kgroups.mcp.run_tool import Runner, divert_output
from kgroups.mcp.server import ToolServer
from kgroups.mcp.tools import Tool, tools

ALL = tools(records=True, store="store", rows=500, seconds=30)
LARGE = Bounds(500, 200_000)
Arguments = Mapping[str, Any]
Ask = Callable[..., list[CallToolResult]]


def connected(bootstrap: str = "127.0.0.1:1", timeout: float = 30.0) -> ConnectionOptions:
    return ConnectionOptions(ClientSettings(parse_bootstrap(bootstrap), timeout=timeout), False).for_reading()


async def call_all(server: ToolServer, calls: Iterable[tuple[str, Arguments]]) -> list[CallToolResult]:
    async with Client(server.server) as client:
        return [await client.call_tool(name, dict(arguments)) for name, arguments in calls]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Call tools one after the other, over a connection of the protocol; return their results."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # restored after the test

    def run(
        *calls: tuple[str, Arguments],
        connection: ConnectionOptions | None = None,
        offered: tuple[Tool, ...] = ALL,
        bounds: Bounds = LARGE,
    ) -> list[CallToolResult]:
        divert_output()

        async def main() -> list[CallToolResult]:
            return await call_all(ToolServer(Runner(cli, connection or connected()), offered, bounds), calls)

        return asyncio.run(main())

    return run
