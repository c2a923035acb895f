"""Calls of tools against fake brokers: what they send, and what is said when there is no result."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import CallToolResult

from kgroups.cli.frame.fleet import fleet_of
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.main import cli, main
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.errors import ConfigError, UsageError
from kgroups.mcp import server as tool_server
from kgroups.mcp.bounds import Bounds
from kgroups.mcp.run_tool import Runner, divert_output
from kgroups.mcp.server import OUTPUT_SCHEMA, ToolServer
from kgroups.mcp.tools import Tool, tools
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.delete_groups import DeleteGroups
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.hostile import hostile
from tests.fakes.live_cluster import fill_live
from tests.schemas import validate
from tests.unit.config.test_secrets import MALFORMED, SECRET
from tests.unit.conftest import Served
from tests.unit.mcp.conftest import ALL, LARGE, Ask, connected

READS = {
    *("ApiVersions", "Metadata", "ListGroups", "FindCoordinator", "DescribeGroups", "ConsumerGroupDescribe"),
    *("ShareGroupDescribe", "StreamsGroupDescribe", "OffsetFetch", "ListOffsets", "Fetch", "DescribeConfigs"),
    *(
        "DescribeShareGroupOffsets",
        "DescribeProducers",
        "DescribeTransactions",
        "ListTransactions",
        "DescribeLogDirs",
        "DescribeAcls",
    ),
    *("DescribeClientQuotas",),
}

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_groups", {}),
    *(("describe_groups", {"all_groups": True, "view": view}) for view in ("offsets", "members", "state", "summary")),
    ("lag", {"by": "partition", "time": True}),
    ("explain_groups", {"all_groups": True}),
    ("explain_partitions", {"all_groups": True, "lagging": True}),
    ("check_groups", {"all_groups": True, "max_lag": "10,20"}),
    ("show_settings", {"all_groups": True}),
    ("plan_reset_offsets", {"group": ["orders-old"], "all_topics": True, "to_earliest": True}),
    ("plan_delete_groups", {"group": ["orders-old"]}),
    ("plan_delete_offsets", {"group": ["orders-old"], "topic": ["t"]}),
)


def document(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    assert json.loads(result.content[0].text) == found
    validate({name: value for name, value in found.items() if name != "truncated"}, found["schema"])
    return found


def failure(result: CallToolResult) -> tuple[str, str, str | None]:
    assert result.is_error
    error = result.structured_content
    Draft202012Validator(OUTPUT_SCHEMA).validate(error)  # some clients compare errors with it, too
    validate(error, "kgroups/error/v1")
    assert "Traceback" not in result.content[0].text
    return error["error"], error["reason"], error["hint"]


@pytest.fixture
def live(serve: Callable[..., Served]) -> Served:
    return serve(fill=fill_live)


def test_every_tool_only_reads(live: Served, ask: Ask) -> None:
    for result in ask(*CALLS, connection=connected(live.bootstrap)):
        assert document(result)["schema"].startswith("kgroups/")
    assert {request.api for request in live.fake.requests} <= READS
    plan = document(ask(("plan_delete_groups", {"group": ["orders-old"]}), connection=connected(live.bootstrap))[0])
    assert [(row["group"], row["result"]) for row in plan["items"]] == [("orders-old", None)]


def test_read_only_client_sends_no_change(live: Served) -> None:
    async def change() -> None:
        cluster, _ = await Cluster.connect(connected(live.bootstrap).settings)
        async with cluster:
            await cluster.change(next(iter(cluster.nodes.values())), DeleteGroups(("orders-old",)))

    with pytest.raises(UsageError, match="DeleteGroups was not sent: this client is read-only"):
        asyncio.run(change())
    assert not live.fake.asked("DeleteGroups")


def test_hung_broker_is_a_failure_of_the_result(live: Served, ask: Ask) -> None:
    live.fake.brokers[1].fault("*", silence)
    settings = connected(live.bootstrap).settings._replace(broker_timeout=0.3)
    (result,) = ask(("list_groups", {}), connection=ConnectionOptions(settings, False))
    found = document(result)
    assert "orders" in [row["group"] for row in found["items"]]
    assert {each["broker"] for each in found["failures"]} == {1}


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("describe_groups", {}, "no groups selected"),
        ("describe_groups", {"group": ["a"], "view": "everything"}, "view: 'everything' is not one of"),
        ("describe_groups", {"group": "a"}, "group: 'a' is not of type 'array'"),
        ("lag", {"top": 0}, "top: 0 is less than the minimum of 1"),
        ("lag", {"execute": True}, "Additional properties are not allowed"),
        ("lag", {"group": ["a"] * 1001}, "group: is invalid (maxItems: 1000)"),
        ("lag", {"regex": "("}, "--regex"),
        ("lag", {"columns": "nonsense"}, "nonsense"),
        ("plan_reset_offsets", {"group": ["a"], "all_topics": True}, "no target offset"),
        ("plan_delete_offsets", {"group": ["a"]}, "'topic' is a required property"),
        ("check_groups", {"rules_toml": "no rules"}, "rules_toml: Expected '='"),
        ("check_groups", {"rules_toml": "[[rule]]\nx = 1"}, "rules_toml, line 2: unknown key 'x'"),
        ("check_groups", {"group": ["a"], "max_lag": "x"}, "--max-lag"),
        ("explain_partitions", {"group": ["a"], "lagging": True, "partition": ["t"]}, "mutually exclusive"),
        ("nonsense", {}, "unknown tool 'nonsense'"),
    ],
)
def test_invalid_arguments_are_an_error_of_the_tool(ask: Ask, name: str, arguments: dict[str, Any], words: str) -> None:
    text, reason, _ = failure(ask((name, arguments))[0])
    assert "kgroups-mcp-" not in text, "the name of a temporary file"
    assert words in text and reason in ("invalid_usage", "invalid_config")


@pytest.mark.parametrize("name", ["list_groups", "check_groups", "plan_delete_groups", "explain_groups"])
def test_unreachable_cluster_is_an_error_of_the_tool(ask: Ask, name: str) -> None:
    arguments = {} if name == "list_groups" else {"group": ["a"]}
    limit = {"max_lag": "1"} if name == "check_groups" else {}
    text, reason, _ = failure(ask((name, arguments | limit))[0])
    assert (text, reason) == (
        "no bootstrap server responded: 127.0.0.1:1: connection refused",
        "connection_refused",
    )


def test_bug_is_an_error_without_its_message(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("kgroups.cli.list.query_and_show", broken)
    text, reason, _ = failure(ask(("list_groups", {}))[0])
    assert reason == "internal_error" and text.startswith("a bug in kgroups: RuntimeError in ")
    err = capsys.readouterr().err
    assert "list_groups: a bug in kgroups" in err and SECRET not in text + err and "Traceback" not in err


def test_calls_at_the_same_time_have_their_own_results(live: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    divert_output()
    names = ["orders", "orders-old", "idle", "new"]

    async def main() -> list[CallToolResult]:
        server = ToolServer(Runner(cli, connected(live.bootstrap)), ALL, LARGE)
        async with Client(server.server) as client:
            calls = (client.call_tool("describe_groups", {"group": [name], "view": "state"}) for name in names * 3)
            return await asyncio.gather(*calls)

    found = [[row["group"] for row in document(each)["items"]] for each in asyncio.run(main())]
    assert found == [[name] for name in names * 3]


def test_canceled_calls_count_until_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def wait(self: Runner, *_: object) -> dict[str, Any]:
        begun.release()
        assert go_on.wait(60)
        lists: dict[str, Any] = {"items": [], "failures": [], "notices": [], "missing_acls": []}
        return {"schema": "kgroups/list/v1", "cluster_id": None, **lists}

    monkeypatch.setattr(Runner, "run", wait)

    async def main() -> None:
        server = ToolServer(Runner(cli, connected()), ALL, LARGE)
        async with Client(server.server) as client:
            calls = [asyncio.ensure_future(client.call_tool("list_groups", {})) for _ in range(tool_server.CALLS)]
            for _ in calls:
                assert await asyncio.to_thread(begun.acquire, timeout=60)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            last = asyncio.ensure_future(client.call_tool("list_groups", {}))
            await client.list_tools()  # the server has received the call, and answers others
            assert not begun.acquire(blocking=False)
            go_on.set()
            assert document(await last)["items"] == []

    asyncio.run(main())


def test_call_that_does_not_end_makes_place_at_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, run = threading.Event(), Runner.run
    monkeypatch.setattr(tool_server, "GRACE", 0.1)

    def hang(self: Runner, tool: Tool, arguments: Any) -> dict[str, Any]:
        if tool.name != "lag":
            assert go_on.wait(60)
        return run(self, tool, arguments)

    monkeypatch.setattr(Runner, "run", hang)

    async def main() -> None:
        server = ToolServer(Runner(cli, connected(timeout=0.2)), ALL, LARGE)
        async with Client(server.server) as client:
            calls = [client.call_tool(name, arguments) for name, arguments in CALLS if name != "lag"]
            for result in await asyncio.gather(*calls):
                assert failure(result)[:2] == ("the call took longer than 0.2 s", "timeout")
            assert failure(await client.call_tool("lag", {}))[1] == "connection_refused"
            go_on.set()

    asyncio.run(main())


def test_window_of_a_trend_fits_into_the_time_limit(live: Served, ask: Ask) -> None:
    arguments = {"all_groups": True, "trend": True}
    offered = tools(records=False, store=None, rows=500, seconds=2.0)
    connection = connected(live.bootstrap, timeout=20.0)
    for window in (3600, 2, 1.1):
        (result,) = ask(("check_groups", arguments | {"window": window}), offered=offered)
        assert failure(result)[0] == f"window: {window} is greater than the maximum of 1.0"
    assert document(ask(("check_groups", arguments), offered=offered, connection=connection)[0])["items"]


def test_hostile_text_is_escaped_in_the_text_of_results(serve: Callable[..., Served], ask: Ask) -> None:
    served = serve(fill=lambda fake: hostile(fake))
    for result in ask(("list_groups", {}), ("lag", {}), connection=connected(served.bootstrap)):
        text = "".join(each.text for each in result.content)
        assert text.replace("\n", "").isprintable() and text.isascii()


def test_several_clusters_and_one_of_them(
    serve: Callable[..., Served], profiles: Callable[..., None], ask: Ask, run_cli: Callable[..., Any]
) -> None:
    def fill(cluster_id: str, group: str) -> Callable[[FakeCluster], None]:
        def filled(fake: FakeCluster) -> None:
            fake.state.cluster_id = cluster_id
            fake.state.topic("orders", [0], end=10)
            fake.state.group(group, 0, commits={("orders", 0): 4})

        return filled

    profiles(a=serve(fill=fill("A", "here")).bootstrap, b=serve(fill=fill("B", "there")).bootstrap, dead="127.0.0.1:1")
    connection = _fleet("a", "b", "dead")
    both, one, plan, other = ask(
        ("lag", {}),
        ("lag", {"profile": "b"}),
        ("plan_delete_groups", {"group": ["here"], "profile": "a"}),
        ("plan_delete_groups", {"group": ["here"]}),
        connection=connection,
    )
    found = document(both)
    assert [(row["cluster"], row["group"]) for row in found["items"]] == [("a", "here"), ("b", "there")]
    assert [each["cluster"] for each in found["failures"]] == ["dead"] and found["clusters"]["a"] == "A"
    assert document(one)["cluster_id"] == "B"
    assert document(plan)["items"][0]["result"] is None
    assert failure(other)[0] == "'profile' is a required property"
    assert failure(ask(("lag", {"profile": "prod"}), connection=connection)[0])[0].startswith("profile: 'prod' is not")


def _fleet(*names: str) -> ConnectionOptions:
    shared, clusters = fleet_of(names, Flags(), None)
    return ConnectionOptions(shared, False, fleet=clusters).for_reading()


def test_result_of_many_groups_is_truncated(serve: Callable[..., Served], ask: Ask) -> None:
    def fill(fake: FakeCluster) -> None:
        for at in range(30):
            fake.state.group(f"g{at:02}", at % 2)

    served = serve(fill=fill)
    (result,) = ask(("list_groups", {}), connection=connected(served.bootstrap), bounds=Bounds(10, 20_000))
    found = document(result)
    assert [row["group"] for row in found["items"]] == [f"g{at:02}" for at in range(10)]
    assert found["truncated"]["omitted"] == {"items": 20} and "--max-rows" in found["truncated"]["hint"]


def test_no_result_or_log_shows_a_secret(
    tmp_path: Path, ask: Ask, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PW", SECRET)
    called = 0
    for number, text in enumerate(MALFORMED.values()):
        file = tmp_path / f"{number}.properties"
        file.write_text(text)
        file.chmod(0o600)
        server = None if "bootstrap.servers" in text else "127.0.0.1:1"
        try:
            settings = load_settings(Flags(server, str(file), timeout=0.5), {"PW": SECRET}).settings
        except (ConfigError, UsageError):
            continue  # the server does not start
        called += 1
        (result,) = ask(("list_groups", {}), connection=ConnectionOptions(settings, False).for_reading())
        assert SECRET not in result.model_dump_json() + caplog.text + "".join(capsys.readouterr())
    assert called


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delitem(sys.modules, "kgroups.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    assert main(("mcp", "-b", "127.0.0.1:1")) == 2
    assert "kgroups mcp needs the package mcp: pip install 'kgroups[mcp]'" in capsys.readouterr().err
