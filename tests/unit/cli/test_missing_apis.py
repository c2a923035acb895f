"""Brokers that lack an API: each command is right without it, or names it and is unknown; never wrong, never silent."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from kgroups import Cluster, Limits, Outcome, PlannedOffset, Threshold, ToEarliest
from kgroups.admin.query.select_groups import Selection
from kgroups.cli.main import cli, main
from kgroups.dropins.consumer_groups import TOOL
from kgroups.errors import KgroupsError
from kgroups.exporter.metrics import texts
from kgroups.exporter.poller import Poller, Polling
from kgroups.mcp.run_tool import Runner, ToolFailed, divert_output
from kgroups.model.offsets import Isolation
from tests.fakes.broker import FakeCluster
from tests.fakes.live_cluster import fill_live
from tests.fakes.versions import API_VERSIONS, KAFKA, NAMES
from tests.unit.conftest import Ran, Served
from tests.unit.mcp.conftest import ALL, connected

APIS = sorted(set(KAFKA["4.3.1"]) - {API_VERSIONS})
DO_IT = ("--execute", "--yes", "--force", "--undo-file", "UNDO")
COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("list", "-o", "json"),
    "list by state": ("list", "--state", "Stable"),
    "describe": ("describe", "--all-groups"),
    "describe named": ("describe", "orders", "new", "share"),
    "describe missing": ("describe", "nobody"),
    "describe members": ("describe", "new", "orders", "--members"),
    "describe state": ("describe", "--all-groups", "--state"),
    "describe topic": ("describe", "--topic", "t"),
    "lag": ("lag", "--all-groups"),
    "lag named": ("lag", "orders", "new"),
    "lag time": ("lag", "orders-old", "--time"),
    "lag headroom": ("lag", "orders-old", "--headroom"),
    "lag exact": ("lag", "orders-old", "--exact"),
    "check lag": ("check", "orders-old", "new", "--max-lag", "1000"),
    "check state": ("check", "new", "orders-old", "--state", "Empty,Reconciling"),
    "check time": ("check", "orders-old", "--max-time-lag", "900000h"),
    "check headroom": ("check", "orders-old", "--min-headroom", "1s"),
    "check commits": ("check", "orders-old", "--max-commit-age", "900000h"),
    "check stopped": ("check", "orders-old", "--stopped"),
    "check assigned": ("check", "new", "orders-old", "--assigned"),
    "check all": ("check", "--all-groups", "--members", "1"),
    "explain": ("explain", "new", "orders"),
    "explain partition": ("explain", "orders", "--partition", "t:0"),
    "config check": ("config", "check", "--columns", "where,step,result,detail"),
    "watch": ("watch", "--count", "1"),
    "snapshot": ("snapshot", "save", "FILE", "--all-groups"),
    "settings": ("settings", "show", "new"),
    "plan reset": ("reset-offsets", "orders-old", "--all-topics", "--to-earliest"),
    "reset": ("reset-offsets", "orders-old", "--all-topics", "--to-earliest", *DO_IT),
    "plan delete": ("delete", "orders-old"),
    "delete": ("delete", "orders-old", *DO_IT),
    "delete offsets": ("delete-offsets", "orders-old", "--topic", "t", *DO_IT),
    "remove members": ("remove-members", "orders", "--all-members"),
    "set": ("settings", "set", "new", "consumer.session.timeout.ms=50000"),
    "reset share": ("reset-offsets", "share-old", "--all-topics", "--to-latest", *DO_IT),
    "delete share": ("delete", "share-old", *DO_IT),
    "delete offsets of share": ("delete-offsets", "share-old", "--topic", "t", *DO_IT),
}
OF_KAFKA: dict[str, tuple[str, ...]] = {
    "tool list": ("--list",),
    "tool describe": ("--describe", "--group", "orders-old"),
    "tool members": ("--describe", "--group", "orders", "--members"),
    "tool state": ("--describe", "--all-groups", "--state"),
    "tool reset": ("--reset-offsets", "--group", "orders-old", "--all-topics", "--to-earliest", "--execute"),
    "tool delete": ("--delete", "--group", "orders-old"),
    "tool delete offsets": ("--delete-offsets", "--group", "orders-old", "--topic", "t"),
}
"""Commands of the drop-in of kafka-consumer-groups."""


def planned(cluster: Cluster) -> tuple[PlannedOffset, ...]:
    return cluster.plan_reset("orders-old", to=ToEarliest()).raise_for_failures().items


def checked(cluster: Cluster, _: Path) -> Outcome[Any]:
    report = cluster.check("orders-old", "new", limits=Limits(lag=Threshold(9, 99)))
    return Outcome(tuple(f"{each.severity.name.lower()} {each.message}" for each in report.findings))


def restored(cluster: Cluster, folder: Path) -> Outcome[Any]:
    """Restore a snapshot of an empty group, whose offsets have changed since."""
    cluster.save_snapshot(folder / "api.json", "orders-old").raise_for_failures()
    cluster.apply(planned(cluster)).raise_for_failures()
    return cluster.apply(cluster.plan_restore(folder / "api.json", "orders-old").raise_for_failures().items)


OF_API: dict[str, Callable[[Cluster, Path], Outcome[Any]]] = {
    "api list": lambda cluster, _: cluster.list(),
    "api lag": lambda cluster, _: cluster.lag("orders", "new"),
    "api describe": lambda cluster, _: cluster.describe("orders", "new"),
    "api offsets": lambda cluster, _: cluster.offsets("orders", "new"),
    "api check": checked,
    "api plan": lambda cluster, _: cluster.plan_reset("orders-old", to=ToEarliest()),
    "api reset": lambda cluster, _: cluster.apply(planned(cluster), force=True),
    "api delete offsets": lambda cluster, _: cluster.delete_offsets(
        cluster.plan_delete_offsets("orders-old", topics=["t"]).raise_for_failures().items, force=True
    ),
    "api delete": lambda cluster, _: cluster.delete("orders-old", force=True, including_hidden_offsets=True),
    "api delete, checked": lambda cluster, _: cluster.delete(*cluster.plan_delete("orders-old").raise_for_failures()),
    "api undo": lambda cluster, _: cluster.undo(cluster.apply(planned(cluster))),
    "api set": lambda cluster, _: cluster.alter_settings(
        cluster.plan_settings("new", values={"consumer.session.timeout.ms": 50_000}).raise_for_failures().items
    ),
    "api snapshot": lambda cluster, folder: cluster.save_snapshot(folder / "api.json", all_groups=True),
    "api restore": restored,
}
"""Calls of the Python API."""
OF_MCP: dict[str, tuple[str, dict[str, Any]]] = {
    "mcp list": ("list_groups", {}),
    "mcp describe": ("describe_groups", {"all_groups": True}),
    "mcp lag": ("lag", {"all_groups": True, "time": True}),
    "mcp explain": ("explain_groups", {"group": ["new", "orders"]}),
    "mcp partitions": ("explain_partitions", {"group": ["orders"], "lagging": True}),
    "mcp check": ("check_groups", {"group": ["orders-old", "new"], "max_lag": "1000", "stopped": True}),
    "mcp settings": ("show_settings", {"group": ["new"]}),
    "mcp plan reset": ("plan_reset_offsets", {"group": ["orders-old"], "all_topics": True, "to_earliest": True}),
    "mcp plan delete": ("plan_delete_groups", {"group": ["orders-old"]}),
    "mcp plan delete offsets": ("plan_delete_offsets", {"group": ["orders-old"], "topic": ["t"]}),
}
"""Tools of the MCP server."""
POLLS: dict[str, Polling] = {
    "exporter": Polling(),
    "exporter times": Polling(with_time=True, with_commit_age=True, with_headroom=True, with_counts=True),
}
WRITES = {"plan reset": "OffsetCommit", "plan delete": "DeleteGroups"} | {
    "reset": "OffsetCommit",
    "delete": "DeleteGroups",
    "delete offsets": "OffsetDelete",
    "tool reset": "OffsetCommit",
    "tool delete": "DeleteGroups",
    "tool delete offsets": "OffsetDelete",
    "api plan": "OffsetCommit",
    "api reset": "OffsetCommit",
    "api delete offsets": "OffsetDelete",
    "api delete": "DeleteGroups",
    "api delete, checked": "DeleteGroups",
    "api undo": "OffsetCommit",
    "api set": "IncrementalAlterConfigs",
    "api restore": "OffsetCommit",
    "mcp plan reset": "OffsetCommit",
    "mcp plan delete": "DeleteGroups",
    "mcp plan delete offsets": "OffsetDelete",
    "remove members": "LeaveGroup",
    "set": "IncrementalAlterConfigs",
    "reset share": "AlterShareGroupOffsets",
    "delete share": "DeleteGroups",
    "delete offsets of share": "DeleteShareGroupOffsets",
}
"""Also a dry run names the API that the change needs."""
CHANGES = {*WRITES.values(), "DeleteTopics"}
NEVER = ("vanished", "did you mean", "Traceback", "Aborted")

Ask = Callable[[int | None, str], Ran]


@pytest.fixture
def ask(serve: Callable[..., Served], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ask:
    """Run a command on brokers without an API; ports, times, and durations are masked."""

    def without(api: int | None, fake: FakeCluster) -> None:
        fill_live(fake)
        fake.state.group("share-old", 0, type="Share", protocol_type="share", commits={("t", 0): 50})
        for broker in fake.brokers.values():
            broker.ranges.pop(api or -1, None)

    def run(api: int | None, name: str) -> Ran:
        served = serve(fill=partial(without, api))
        folder = tmp_path / str(api)
        folder.mkdir()
        files = {"UNDO": str(folder / "undo.json"), "FILE": str(folder / "snapshot.json")}
        if name in OF_API:
            code = call_api(served.bootstrap, OF_API[name], folder)
        elif name in OF_MCP:
            code = call_tool(served.bootstrap, *OF_MCP[name])
        elif name in OF_KAFKA:
            code = TOOL.main(("--bootstrap-server", served.bootstrap, *OF_KAFKA[name]))
        else:
            code = main([files.get(word, word) for word in (*COMMANDS[name], "-b", served.bootstrap)])
        sent = {request.api for broker in served.fake.brokers.values() for request in broker.requests}
        assert NAMES.get(api or -1) != WRITES.get(name, "") or not sent & CHANGES  # named before anything is sent
        masked = [masked_text(text, served, folder) for text in capsys.readouterr()]
        return Ran(code, *masked)

    return run


def call_api(bootstrap: str, ask: Callable[[Cluster, Path], Outcome[Any]], folder: Path) -> int:
    """Print what a call returns or raises, as a program would."""
    try:
        with Cluster(bootstrap) as cluster:
            found = ask(cluster, folder)
    except KgroupsError as error:
        print(error)
        return error.exit_code
    print(*found, *found.failures, *found.notices, sep="\n")
    return 1 if found.failures else 0


def call_tool(bootstrap: str, name: str, arguments: dict[str, Any]) -> int:
    """Print the document of a tool, or its error."""
    (tool,) = (each for each in ALL if each.name == name)
    diverted = sys.stdout
    divert_output()
    try:
        found = Runner(cli, connected(bootstrap)).run(tool, arguments)
    except ToolFailed as error:
        print(error, file=diverted)
        return 1
    finally:
        sys.stdout = diverted
    print(json.dumps(found, indent=1))
    return 1 if found.get("failures") or found.get("exit_code") else 0


def masked_text(text: str, served: Served, folder: Path) -> str:
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r'\d{4}-\d\d-\d\d[T ]?[\d:.]*Z?|\d\d:\d\d:\d\d|"at": \d+|\b\d+(\.\d+)?(ms|s|m|h)\b', "TIME", text)
    for broker in served.fake.brokers.values():  # after the times, whose digits may contain those of a port
        text = re.sub(rf"\b{broker.port}\b", f"PORT{broker.id}", text)
    return text


def verdict(found: Ran, whole: Ran, api: str) -> str:
    """Return ``whole``, ``named``, or what is wrong."""
    text = found.out + found.err
    if wrong := [word for word in NEVER if word in text and word not in whole.out + whole.err]:
        return f"says {wrong}"
    if found == whole:
        return "whole"
    if api not in text:
        return "does not name the API"
    if found.code == 0 and not any(word in text for word in ("unknown", "could not check")):
        return "exit code 0, and nothing is unknown"
    return "named"


@pytest.mark.parametrize("name", [*COMMANDS, *OF_KAFKA, *OF_API, *OF_MCP])
def test_missing_api_is_named_or_not_needed(name: str, ask: Ask) -> None:
    whole = ask(None, name)
    assert whole.code < 2 or name in COMMANDS, whole.out  # else the call itself is wrong
    verdicts = {}
    for api in APIS:
        verdicts[NAMES[api]] = verdict(ask(api, name), whole, NAMES[api])
    assert {api: found for api, found in verdicts.items() if found not in ("whole", "named")} == {}
    assert "whole" in verdicts.values() and verdicts["Metadata"] == "named"
    if name in WRITES:
        assert verdicts[WRITES[name]] == "named"


Samples = dict[tuple[object, ...], float]
TOLD = (
    "kgroups_up",
    "kgroups_hidden",
    "kgroups_scrape_failures_total",
    "kafka_consumergroup_unknown_partitions",
    "kafka_consumergroup_stale",
)
"""Metrics that say that others are unknown."""


def polled(served: Served, polling: Polling) -> Samples:
    read = Selection(everything=True), Isolation.READ_UNCOMMITTED, polling
    with closing(Poller(connected(served.bootstrap), *read)) as poller:
        text = b"".join(texts(poller.poll(), generate_latest)).decode()
    every = (each for family in text_string_to_metric_families(text) for each in family.samples)
    return {(each.name, *sorted(each.labels.items())): each.value for each in every}


def same(sample: tuple[object, ...], value: float | None, other: float | None) -> bool:
    """Compare two values; ages and times of two polls differ a little."""
    if value is None or other is None or not str(sample[0]).endswith("_seconds"):
        return value == other
    return abs(value - other) < 300


@pytest.mark.parametrize("name", POLLS)
def test_exporter_has_no_wrong_sample_without_an_api(name: str, serve: Callable[..., Served]) -> None:
    """Each sample is as with the API, or is missing; then another one says so."""
    whole = polled(serve(fill=fill_live), POLLS[name])
    found: dict[str, object] = {}
    for api in APIS:

        def fill(fake: FakeCluster, api: int = api) -> None:
            fill_live(fake)
            for broker in fake.brokers.values():
                broker.ranges.pop(api)

        samples = polled(serve(fill=fill), POLLS[name])
        changed = {each for each in {*samples, *whole} if not same(each, samples.get(each), whole.get(each))}
        told = {each for each in changed if each[0] in TOLD or ("status", "unknown") in each}
        wrong = {each for each in changed - told if each in samples}
        missing = {each for each in changed if each not in samples}
        if wrong or (missing and not told):
            found[NAMES[api]] = wrong or missing
    assert found == {}
