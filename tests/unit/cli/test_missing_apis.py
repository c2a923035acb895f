"""Brokers that lack an API: each command is right without it, or names it and is unknown; never wrong, never silent."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kgroups import Cluster, Outcome, ToEarliest
from kgroups.cli.main import main
from kgroups.dropins.consumer_groups import TOOL
from kgroups.errors import KgroupsError
from tests.fakes.broker import FakeCluster
from tests.fakes.live_cluster import fill_live
from tests.fakes.versions import API_VERSIONS, KAFKA, NAMES
from tests.unit.conftest import Ran, Served

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
OF_API: dict[str, Callable[[Cluster], Outcome[Any]]] = {
    "api list": lambda cluster: cluster.list(),
    "api lag": lambda cluster: cluster.lag("orders", "new"),
    "api describe": lambda cluster: cluster.describe("orders", "new"),
    "api plan": lambda cluster: cluster.plan_reset("orders-old", to=ToEarliest()),
}
"""Calls of the Python API."""
WRITES = {"plan reset": "OffsetCommit", "plan delete": "DeleteGroups"} | {
    "reset": "OffsetCommit",
    "delete": "DeleteGroups",
    "delete offsets": "OffsetDelete",
    "tool reset": "OffsetCommit",
    "tool delete": "DeleteGroups",
    "tool delete offsets": "OffsetDelete",
    "api plan": "OffsetCommit",
    "remove members": "LeaveGroup",
    "set": "IncrementalAlterConfigs",
}
"""Also a dry run names the API that the change needs."""
NEVER = ("vanished", "did you mean", "Traceback", "Aborted")

Ask = Callable[[int | None, str], Ran]


@pytest.fixture
def ask(serve: Callable[..., Served], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ask:
    """Run a command on brokers without an API; ports, times, and durations are masked."""

    def without(api: int | None, fake: FakeCluster) -> None:
        fill_live(fake)
        for broker in fake.brokers.values():
            broker.ranges.pop(api or -1, None)

    def run(api: int | None, name: str) -> Ran:
        served = serve(fill=partial(without, api))
        folder = tmp_path / str(api)
        folder.mkdir()
        files = {"UNDO": str(folder / "undo.json"), "FILE": str(folder / "snapshot.json")}
        if name in OF_API:
            code = call_api(served.bootstrap, OF_API[name])
        elif name in OF_KAFKA:
            code = TOOL.main(("--bootstrap-server", served.bootstrap, *OF_KAFKA[name]))
        else:
            code = main([files.get(word, word) for word in (*COMMANDS[name], "-b", served.bootstrap)])
        masked = [masked_text(text, served, folder) for text in capsys.readouterr()]
        return Ran(code, *masked)

    return run


def call_api(bootstrap: str, ask: Callable[[Cluster], Outcome[Any]]) -> int:
    """Print what a call returns or raises, as a program would."""
    try:
        with Cluster(bootstrap) as cluster:
            found = ask(cluster)
    except KgroupsError as error:
        print(error)
        return error.exit_code
    print(*found, *found.failures, *found.notices, sep="\n")
    return 1 if found.failures else 0


def masked_text(text: str, served: Served, folder: Path) -> str:
    for broker in served.fake.brokers.values():
        text = text.replace(str(broker.port), f"PORT{broker.id}")
    text = text.replace(str(folder), "FOLDER")
    return re.sub(r'\d{4}-\d\d-\d\d[T ]?[\d:.]*Z?|\d\d:\d\d:\d\d|"at": \d+|\b\d+(\.\d+)?(ms|s|m|h)\b', "TIME", text)


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


@pytest.mark.parametrize("name", [*COMMANDS, *OF_KAFKA, *OF_API])
def test_missing_api_is_named_or_not_needed(name: str, ask: Ask) -> None:
    whole = ask(None, name)
    assert whole.code < 2 or name in COMMANDS, whole.out  # else the call itself is wrong
    verdicts = {}
    for api in APIS:
        verdicts[NAMES[api]] = verdict(ask(api, name), whole, NAMES[api])
    assert {api: found for api, found in verdicts.items() if found not in ("whole", "named")} == {}
    assert "whole" in verdicts.values() and verdicts["Metadata"] == "named"
    if api := WRITES.get(name):
        assert verdicts[api] == "named"
