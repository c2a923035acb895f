"""Methods of the Python API have the defaults of the commands that do the same."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kgroups import AsyncCluster, AsyncFleet, Cluster, Fleet, GroupFilters, Limits, Outcome, UsageError
from kgroups.admin.still_committing import WINDOW
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.conftest import Ran, Served


class Pair(NamedTuple):
    """A method, its command, and the option of each of its parameters; ``None``: it is a part of another option."""

    method: str
    command: str
    options: Mapping[str, str | None]
    own: frozenset[str] = frozenset()
    """Parameters that no option has."""


GROUPS = {"regex": "--regex", "all_groups": "--all-groups"}
TOPICS = {"topics": "--topic"}
WHERE = {"exclude": "--exclude", "hosts": "--host", "client_ids": "--client-id", "coordinators": "--coordinator"}
FILTERS = WHERE | {"states": "--state", "types": "--type"}
WRITE = {"force": "--force", "commit_window": "--commit-window"}
LAG = {"by": "--by", "time": "--time", "headroom": "--headroom", "exact": "--exact", "read_committed": "--isolation"}
PAIRS = (
    Pair("list", "list", FILTERS),
    Pair("describe", "describe", GROUPS | TOPICS | FILTERS | {"states": "--in-state"}),
    Pair("offsets", "describe", GROUPS | TOPICS | FILTERS | {"states": "--in-state", "read_committed": "--isolation"}),
    Pair("lag", "lag", GROUPS | TOPICS | FILTERS | LAG),
    Pair(
        "check",
        "check",
        GROUPS | FILTERS | {"states": "--in-state", "types": "--of-type", "window": "--window", "samples": "--samples"},
        frozenset({"limits"}),
    ),
    Pair("plan_reset", "reset-offsets", GROUPS | TOPICS | {"create_group": "--create-group"}, frozenset({"to"})),
    Pair("apply", "reset-offsets", WRITE, frozenset({"plan"})),
    Pair("plan_delete_offsets", "delete-offsets", GROUPS | TOPICS),
    Pair("delete_offsets", "delete-offsets", WRITE, frozenset({"plan"})),
    Pair("plan_delete", "delete", GROUPS),
    Pair("delete", "delete", WRITE | {"including_hidden_offsets": "--including-hidden-offsets"}),
    Pair("describe_settings", "settings show", GROUPS | {"keys": "--key", "overridden": "--overridden"}),
    Pair("plan_settings", "settings set", GROUPS, frozenset({"values"})),
    Pair("alter_settings", "settings set", {}, frozenset({"plan"})),
    Pair(
        "save_snapshot",
        "snapshot save",
        GROUPS | TOPICS | FILTERS | {"records": "--with-records", "overwrite": "--overwrite"},
        frozenset({"file"}),
    ),
    Pair(
        "plan_restore",
        "snapshot restore",
        TOPICS | {"create_group": "--create-group", "exact": "--exact"},
        frozenset({"file"}),
    ),
    Pair("plan_restore_settings", "snapshot restore", {"exact": "--exact"}, frozenset({"file"})),
    Pair("undo", "undo", {"partial": "--partial", "commit_window": "--commit-window"}, frozenset({"change"})),
)
NOT_GIVEN = (None, (), [], False)
SAME: Mapping[str | None, Mapping[Any, Any]] = {
    "--isolation": {"read_uncommitted": False},
    "--window": {"30s": 30.0},
    "--commit-window": {None: WINDOW},
}
"""The values of a parameter for defaults of options that are written in another way."""

Run = Callable[..., Ran]


def test_every_method_has_a_command() -> None:
    public = {name for name, found in vars(Cluster).items() if callable(found) and not name.startswith("_")}
    assert {each.method for each in PAIRS} == public


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.method)
def test_defaults_are_those_of_the_command(pair: Pair, run_cli: Run) -> None:
    help = json.loads(run_cli(*pair.command.split(), "--help-json").out)["command"]
    defaults = {name: option["default"] for option in help["options"] for name in option["names"]}
    parameters = inspect.signature(getattr(AsyncCluster, pair.method)).parameters
    found = {
        each.name: each.default
        for each in parameters.values()
        if each.name not in {"self", "groups", "filters"} | pair.own
    }
    found |= dict.fromkeys(GroupFilters.__annotations__, None) if "filters" in parameters else {}
    assert found.keys() == pair.options.keys()
    for name, default in found.items():
        option = pair.options[name]
        expected = SAME.get(option, {}).get(defaults[option], defaults[option])
        both_empty = expected in NOT_GIVEN and default in (*NOT_GIVEN, inspect.Parameter.empty)
        assert both_empty or default == expected, f"{name} and {option}"


@pytest.mark.parametrize("method", ["list", "describe", "offsets", "lag", "check"])
def test_fleet_has_the_defaults_of_a_cluster(method: str) -> None:
    one, several = (inspect.signature(getattr(each, method)).parameters.values() for each in (AsyncCluster, AsyncFleet))
    assert [(each.name, each.default) for each in one] == [(each.name, each.default) for each in several]


def _shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 90})
    fake.state.group("b", 1, commits={("orders", 1): 1})


READS: Mapping[str, tuple[tuple[str, ...], Callable[[Cluster, Path], Any]]] = {
    "list": (("list",), lambda cluster, _: cluster.list()),
    "describe": (("describe", "--state"), lambda cluster, _: cluster.describe()),
    "offsets": (("describe",), lambda cluster, _: cluster.offsets()),
    "lag": (("lag",), lambda cluster, _: cluster.lag()),
    "check": (("check", "--max-lag", "1"), lambda cluster, _: cluster.check(limits=Limits())),
    "settings": (("settings", "show"), lambda cluster, _: cluster.describe_settings()),
    "snapshot": (("snapshot", "save", "FILE"), lambda cluster, file: cluster.save_snapshot(file)),
}


@pytest.mark.parametrize("name", READS)
def test_without_groups_both_select_all_or_none(
    name: str, serve: Callable[..., Served], run_cli: Run, tmp_path: Path
) -> None:
    words, call = READS[name]
    bootstrap = serve(fill=_shop).bootstrap
    words = tuple(str(tmp_path / "cli") if word == "FILE" else word for word in words)
    ran = run_cli(*words, "-b", bootstrap, "-o", "json")
    try:
        outcome: Outcome[Any] | None = call(Cluster(bootstrap), tmp_path / "api")
    except UsageError as error:
        assert ran.code in (2, 3) and "no groups selected" in str(error)
        return
    assert ran.code == 0 and outcome is not None
    items, ours = json.loads(ran.out)["items"], outcome.to_dicts()
    keys = {"groups", "offsets"} if name == "snapshot" else {"group"}
    assert [{key: each[key] for key in keys} for each in items] == [{key: each[key] for key in keys} for each in ours]


def _office(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    app = FakeMember("m", {"orders": (0,)}, host="/10.0.4.17", client_id="app")
    fake.state.group("billing", 0, state="Stable", commits={("orders", 0): 90}, members=(app,))
    fake.state.group("mail", 1, state="Stable", commits={("orders", 1): 80}, members=(replace(app, client_id="mail"),))
    fake.state.group("idle", 1, commits={("orders", 1): 1})


@pytest.mark.parametrize(
    ("filters", "options", "groups"),
    [
        ({"exclude": "b.*"}, ("--exclude", "b.*"), ["idle", "mail"]),
        ({"hosts": ["10.0.4.*"]}, ("--host", "10.0.4.*"), ["billing", "mail"]),
        ({"client_ids": ["app", "nosuch"]}, ("--client-id", "app", "--client-id", "nosuch"), ["billing"]),
        ({"hosts": ["nosuch"], "client_ids": ["app"]}, ("--host", "nosuch", "--client-id", "app"), []),
        ({"coordinators": [1]}, ("--coordinator", "1"), ["idle", "mail"]),
        ({"coordinators": ["1"], "states": ["stable"]}, ("--coordinator", "1", "--state", "stable"), ["mail"]),
        ({"types": ["consumer"]}, ("--type", "consumer"), []),
    ],
)
def test_filters_select_as_the_options_of_commands(
    filters: dict[str, Any], options: tuple[str, ...], groups: list[str], serve: Callable[..., Served], run_cli: Run
) -> None:
    bootstrap = serve(fill=_office).bootstrap
    cluster = Cluster(bootstrap)
    for command, method in (("list", cluster.list), ("lag", cluster.lag)):
        ran = run_cli(command, *options, "-b", bootstrap, "-o", "json")
        assert [each["group"] for each in json.loads(ran.out)["items"]] == groups
        assert [each["group"] for each in method(**filters).to_dicts()] == groups
    assert [each.group for each in cluster.describe(**filters)] == groups
    assert sorted({each.group for each in cluster.offsets(**filters)}) == groups


def test_filters_of_named_groups_are_rejected_as_in_commands(serve: Callable[..., Served], run_cli: Run) -> None:
    bootstrap = serve(fill=_office).bootstrap
    assert "cannot be filtered by host" in run_cli("lag", "idle", "--host", "x", "-b", bootstrap).err
    with pytest.raises(UsageError, match="'idle' is selected by name and cannot be filtered by hosts=; use regex="):
        Cluster(bootstrap).lag("idle", hosts=["x"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'host'"):
        Cluster(bootstrap).lag(host="x")  # type: ignore[call-arg]


def test_filters_of_a_fleet_apply_to_each_cluster(serve: Callable[..., Served], profiles: Callable[..., None]) -> None:
    profiles(a=serve(fill=_office).bootstrap, b=serve(fill=_shop).bootstrap)
    found = Fleet("*").lag(client_ids=iter(["app"]))
    assert [(each["cluster"], each["group"]) for each in found.to_dicts()] == [("a", "billing")]
