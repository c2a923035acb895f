"""``kgroups mcp``: each tool over the protocol, compared with the command on the same brokers."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups.sandbox.security import Acl, Secure
from tests.fakes.broker import FakeCluster
from tests.fakes.history import three_commits
from tests.fakes.hung import ANSWERING, HUNG, hung
from tests.fakes.serving import serving
from tests.integration.asking import run_here
from tests.integration.auth_methods import GROUPS
from tests.integration.known_cluster import KnownCluster
from tests.integration.mcp_client import ToolClient, tool_client
from tests.integration.secret_scan import Leaks
from tests.integration.versions import newest_only

FIRST, SECOND, _ = GROUPS.names()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("mcp") / "store"
    three_commits().stored_in(location, "east")
    return location


@pytest.fixture(scope="module")
def client(known_cluster: KnownCluster, store: Path) -> Iterator[ToolClient]:
    options = ("--store", str(store), "--max-rows", "100")
    with tool_client("-b", known_cluster.sandbox.bootstrap, *options) as found:
        yield found


@newest_only
@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("list_groups", {}, "list"),
        ("list_groups", {"by": "cluster"}, "list --by cluster"),
        ("describe_groups", {"all_groups": True}, "describe --all-groups"),
        ("describe_groups", {"group": ["orders-*"], "view": "members"}, "describe orders-* --members"),
        ("describe_groups", {"regex": "orders-.*", "view": "state"}, "describe --regex orders-.* --state"),
        ("describe_groups", {"topic": ["payments"], "view": "summary"}, "describe --topic payments --summary"),
        ("lag", {"by": "topic", "top": 3}, "lag --by topic --top 3"),
        ("lag", {"group": ["data-lost"], "columns": "group,total_lag"}, "lag data-lost --columns group,total_lag"),
        ("explain_groups", {"group": ["orders-range"], "what_if": ["members=+1"]},
         "explain orders-range --what-if members=+1"),
        ("explain_partitions", {"group": ["ahead"], "partition": ["payments"]}, "explain ahead --partition payments"),
        ("check_groups", {"group": ["payments-lagging"], "max_lag": "10,20", "state": ["stable"]},
         "check payments-lagging --max-lag 10,20 --state stable"),
        ("show_settings", {"group": ["orders-kip848"]}, "settings show orders-kip848"),
        ("plan_reset_offsets", {"group": ["payments-empty"], "all_topics": True, "to_earliest": True},
         "reset-offsets payments-empty --all-topics --to-earliest"),
        ("plan_delete_groups", {"group": ["ahead", "orders-range"]}, "delete ahead orders-range"),
        ("plan_delete_offsets", {"group": ["payments-empty"], "topic": ["payments"]},
         "delete-offsets payments-empty --topic payments"),
    ],
)  # fmt: skip
def test_result_of_a_tool_is_the_json_of_its_command(
    client: ToolClient, known_cluster: KnownCluster, name: str, arguments: dict[str, Any], words: str
) -> None:
    command = words.split()
    found = client.document(name, **arguments)
    assert found.pop("truncated") is None
    expected = known_cluster.ask(*command, "-o", "json").envelope
    for each in (found, expected):
        each.pop("at", None)  # the time of the check
    assert found == expected and list(found) == list(expected)
    assert found["items"] or name == "show_settings"


@newest_only
def test_plans_change_nothing(client: ToolClient, known_cluster: KnownCluster) -> None:
    before = known_cluster.ask("describe", "payments-empty", "-o", "json").items
    plan = client.document("plan_reset_offsets", group=["payments-empty"], all_topics=True, to_earliest=True)
    assert {row["result"] for row in plan["items"]} == {None} and plan["undo_file"] is None
    assert client.document("plan_delete_groups", group=["payments-empty"])["items"]
    assert client.call("plan_delete_groups", group=["payments-empty"], execute=True).is_error
    assert known_cluster.ask("describe", "payments-empty", "-o", "json").items == before


@newest_only
def test_verdict_of_a_check_with_rules_is_in_the_result(client: ToolClient) -> None:
    rules = '[[rule]]\ngroups = ["payments-lagging"]\nmax-lag = 20\n'
    found = client.document("check_groups", rules_toml=rules)
    assert (found["status"], found["exit_code"]) == ("CRITICAL", 2)
    assert {row["group"] for row in found["items"]} == {"payments-lagging"}


@newest_only
def test_history_is_queried_with_sql(client: ToolClient, store: Path) -> None:
    query = "select `group`, max(committed_offset) as newest from commits group by 1"
    found = client.document("query_history", query=query)
    assert found.pop("truncated") is None and found.pop("has_more") is False
    assert found == json.loads(run_here("history", "sql", "--store", str(store), "-o", "json", query).out)
    assert found["items"] == [{"group": "orders", "newest": 102}]
    (store.parent / "secret.csv").write_text("password\nhunter2\n")
    refused = client.call("query_history", query=f"select * from read_csv('{store.parent}/secret.csv')")
    assert refused.is_error and "hunter2" not in refused.model_dump_json()


@newest_only
def test_large_results_are_truncated(client: ToolClient, known_cluster: KnownCluster) -> None:
    found = client.document("query_history", query="select * from range(100000000)")
    assert len(found["items"]) == 100 and found["truncated"]["omitted"] == {"items": None}
    assert "the result has more than 100 rows" in found["notices"][-1]
    with tool_client("-b", known_cluster.sandbox.bootstrap, "--max-rows", "3", "--max-bytes", "4000") as small:
        assert "query_history" not in small.tools
        rows = small.document("list_groups")
        everything = client.document("list_groups")["items"]
        assert rows["items"] == everything[:3]
        assert rows["truncated"]["omitted"] == {"items": len(everything) - 3}
        assert len(json.dumps(small.document("describe_groups", all_groups=True, view="members"))) <= 4000


@newest_only
def test_names_from_the_cluster_are_escaped_in_text(client: ToolClient) -> None:
    result = client.call("list_groups", regex="Z.*")
    assert "\x1b" in result.structured_content["items"][0]["group"]
    assert result.content[0].text.isascii() and "\x1b" not in result.content[0].text
    assert "Never" in str(client.greeting.instructions) and client.greeting.server_info.name == "kgroups"


def test_hung_broker_costs_its_groups_and_no_others() -> None:
    fake = FakeCluster(3)
    hung(fake)
    with serving(fake):
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())
        with tool_client("-b", servers, "--broker-timeout", "3s") as client:
            for name in ("list_groups", "lag"):
                found = client.document(name)
                assert [row["group"] for row in found["items"]] == ANSWERING
                assert {each["broker"] for each in found["failures"]} == {HUNG}
                assert all(each["message"] and each["reason"] for each in found["failures"])


def test_dead_cluster_is_an_error_of_each_call() -> None:
    with tool_client("-b", "127.0.0.1:1") as client:
        result = client.call("list_groups")
        assert result.is_error
        assert result.structured_content["reason"] == "connection_refused"
        assert client.call("describe_groups").structured_content["reason"] == "invalid_usage"
        assert len(client.tools) == 10


@newest_only
def test_restricted_principal_gets_missing_acls_and_nobody_gets_secrets(secure: Secure) -> None:
    secure.allow(Acl("ann", "describe", "group", FIRST), Acl("ann", "describe", "topic", GROUPS.topic))
    try:
        file = secure.user_file("ann")
        with tool_client("--command-config", str(file), "--show-records") as client:
            found = client.document("list_groups")
            assert [row["group"] for row in found["items"]] == [FIRST]
            (acl,) = found["missing_acls"]
            assert (acl["operation"], acl["resource"]) == ("DESCRIBE", "CLUSTER")
            partial = client.document("describe_groups", group=[FIRST, SECOND])
            assert f"needs DESCRIBE on GROUP {SECOND}" in json.dumps(partial["items"])
            client.document("explain_partitions", group=[FIRST], lagging=True, show_record=True)
            client.call("show_settings", group=[FIRST])
        wrong = file.with_name("wrong-for-mcp.properties")
        wrong.write_text(file.read_text().replace(secure.users["ann"], f"{secure.users['ann']}-old"))
        wrong.chmod(0o600)
        with tool_client("--command-config", str(wrong), "--debug") as refused:
            result = refused.call("list_groups")
            assert result.is_error and result.structured_content["reason"] == "authentication_failed"
        leaks = Leaks(secure)
        shown = "\n".join((*client.seen, client.log, *refused.seen, refused.log))
        assert not leaks.in_(shown) and "authentication" in shown
    finally:
        secure.forget("ann")


@pytest.mark.parametrize("ends", ["closes its pipes", "is terminated"])
def test_server_ends_quietly_while_a_call_waits(ends: str) -> None:
    """The address accepts connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        server = subprocess.Popen(
            [sys.executable, "-m", "kgroups", "mcp", "-b", address, "--timeout", "10m", "--broker-timeout", "10m"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        messages = (
            {"id": 1, "method": "initialize", "params": about},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "list_groups", "arguments": {}}},
        )
        assert server.stdin and server.stdout and server.stderr
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        silent.settimeout(60)
        waiting, _ = silent.accept()
        if ends == "is terminated":
            server.terminate()
        out, err = server.communicate(timeout=60)
        waiting.close()
        assert err == "" and [json.loads(line)["id"] for line in out.splitlines()] in ([], [2])
        assert server.returncode == (-15 if ends == "is terminated" else 0)
