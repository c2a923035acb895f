"""Settings of groups over fake brokers: shown, compared with a file, changed, and restored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from tests.fakes.broker import FakeCluster, close, framed

Run = Callable[..., tuple[int, str, str]]
TIMEOUT, LOCKS = "consumer.session.timeout.ms", "share.partition.max.record.locks"
WRITE = ("--execute", "--yes", "--undo-file", "undo.json")
TOML = f"""
[groups."orders-*"]
{TIMEOUT} = 50000

[groups.orders-eu]
"{TIMEOUT}" = 60000
"""


def fill(fake: FakeCluster) -> None:
    fake.state.group("orders-eu", 0)
    fake.state.group("orders-us", 1)
    fake.state.settings[""] = {TIMEOUT: "45000", LOCKS: "2000"}
    fake.state.settings["orders-us"] = {TIMEOUT: "50000", LOCKS: "100"}


@pytest.fixture
def served(serve: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(TOML)
    return serve(fill=fill)


@pytest.fixture
def ask(run_cli: Run, served: Any) -> Callable[..., Any]:
    """Run a command of settings; returns the exit code, the rows, and stderr."""

    def run(*words: str) -> tuple[int, list[tuple[Any, ...]], str]:
        code, out, err = run_cli("settings", *words, "-b", served.bootstrap, "-o", "json")
        return code, [tuple(row.values()) for row in json.loads(out)["items"]] if out else [], err

    return run


def test_show_names_the_origin_of_each_value(ask: Any) -> None:
    code, rows, _ = ask("show", "orders-us", "not-yet")
    inherited = ("45000", "static-broker")
    assert code == 0 and rows == [
        ("not-yet", TIMEOUT, *inherited, *inherited),
        ("not-yet", LOCKS, "2000", "static-broker", "2000", "static-broker"),
        ("orders-us", TIMEOUT, "50000", "dynamic-group", *inherited),
        ("orders-us", LOCKS, "100", "dynamic-group", "2000", "static-broker"),
    ]


def test_show_selects_keys_and_overridden_values(ask: Any) -> None:
    assert {row[:2] for row in ask("show", "--all-groups", "--key", "consumer.*")[1]} == {
        ("orders-eu", TIMEOUT),
        ("orders-us", TIMEOUT),
    }
    assert [row[0] for row in ask("show", "orders-*", "--overridden")[1]] == ["orders-us", "orders-us"]
    code, rows, err = ask("show", "orders-eu", "--overridden")
    assert (code, rows) == (0, []) and "no values are set" in err


def test_missing_acl_and_old_broker_are_named(ask: Any, served: Any) -> None:
    served.state.fail("DescribeConfigs", "orders-eu", ErrorCode.group_authorization_failed)
    served.state.fail("DescribeConfigs", "orders-us", ErrorCode.invalid_request)
    code, rows, err = ask("show", "--all-groups")
    assert (code, rows) == (1, []) and "needs DESCRIBE_CONFIGS on GROUP orders-eu" in err
    assert "brokers before Kafka 4.0 have no settings of groups" in err


def test_diff_exits_with_1_if_a_setting_differs(ask: Any) -> None:
    code, rows, _ = ask("diff", "-f", "s.toml")
    assert code == 1 and rows == [("orders-eu", TIMEOUT, "60000", "45000", "static-broker", "not set")]
    code, rows, _ = ask("diff", "-f", "s.toml", "--exact")
    assert code == 1 and rows[1:] == [("orders-us", LOCKS, None, "100", "dynamic-group", "not in file")]
    code, rows, err = ask("diff", "-f", "s.toml", "orders-us")
    assert (code, rows) == (0, []) and "the settings are as in s.toml: 1 group" in err
    Path("s.toml").write_text("[groups.orders-us]\nno.such = 1")
    code, rows, err = ask("diff", "-f", "s.toml")
    assert code == 1 and "no.such: brokers have no such setting" in err


def test_set_from_a_file_and_undo_leave_the_settings_as_they_were(ask: Any, served: Any) -> None:
    before = {name: dict(values) for name, values in served.state.settings.items()}
    code, rows, err = ask("set", "-f", "s.toml", "--exact")
    assert code == 0 and "dry run" in err and served.state.settings == before
    assert rows == [
        ("orders-eu", TIMEOUT, "45000", "static-broker", "60000", "dynamic-group", None, None),
        ("orders-us", LOCKS, "100", "dynamic-group", "2000", "static-broker", None, None),
    ]
    code, rows, err = ask("set", "-f", "s.toml", "--exact", *WRITE)
    assert code == 0 and [row[6] for row in rows] == ["applied", "applied"]
    assert "kgroups undo undo.json --execute" in err
    assert ask("diff", "-f", "s.toml", "--exact")[0] == 0
    header, *lines = map(json.loads, Path("undo.json").read_text().splitlines())
    assert header["cluster_id"] == served.state.cluster_id and header["schema"] == "kgroups/undo-settings/v1"
    assert lines[0] == {"group": "orders-eu", "key": TIMEOUT, "old_value": None, "new_value": "60000"}
    assert {line["result"] for line in lines[2:]} == {"applied"}
    assert ask("set", "-f", "undo.json", "--execute", "--yes")[0] == 0
    after = {name: values for name, values in served.state.settings.items() if values}
    assert after == before


def test_invalid_value_is_rejected_in_the_plan(ask: Any, served: Any) -> None:
    code, rows, err = ask("set", f"{TIMEOUT}=invalid", "orders-eu", "orders-us")
    assert (code, rows) == (1, []) and f"Invalid value invalid for configuration {TIMEOUT}" in err
    served.state.fail("IncrementalAlterConfigs", "orders-eu", ErrorCode.group_authorization_failed)
    code, rows, err = ask("set", f"{LOCKS}=7", "orders-*", *WRITE)
    assert code == 1 and [row[0] for row in rows] == ["orders-us"]
    assert "needs ALTER_CONFIGS on GROUP orders-eu" in err and served.state.settings["orders-us"][LOCKS] == "7"


def test_unset_shows_the_value_that_is_inherited(ask: Any, served: Any) -> None:
    code, rows, _ = ask("unset", "share.*", "--all-groups", *WRITE)
    assert code == 0 and rows == [
        ("orders-us", LOCKS, "100", "dynamic-group", "2000", "static-broker", "applied", None)
    ]
    assert LOCKS not in served.state.settings["orders-us"]
    code, _, err = ask("unset", "no.such", "orders-us")
    assert code == 1 and "no.such: brokers have no such setting" in err


def test_write_without_a_response_is_unknown_and_sent_once(ask: Any, served: Any) -> None:
    sent = []

    async def lose_the_second(writer: asyncio.StreamWriter, answer: bytes) -> None:
        sent.append(answer)
        if len(sent) == 1:  # the check of the values
            writer.write(framed(answer))
        else:
            await close(writer, answer)

    served.fake.brokers[1].fault("IncrementalAlterConfigs", lose_the_second)
    code, rows, err = ask("set", f"{LOCKS}=9", "orders-us", *WRITE)
    assert code == 1 and [row[6] for row in rows] == ["unknown"] and len(sent) == 2
    assert "group 'orders-us'" in err


def test_undo_leaves_alone_what_has_changed_since(ask: Any, served: Any) -> None:
    assert ask("set", f"{TIMEOUT}=1", f"{LOCKS}=2", "orders-eu", *WRITE)[0] == 0
    served.state.settings["orders-eu"][TIMEOUT] = "3"
    code, rows, err = ask("set", "-f", "undo.json")
    assert code == 1 and [row[1] for row in rows] == [LOCKS]
    assert f"{TIMEOUT} is not restored: it has changed since: 1 was written, now 3" in err
    code, rows, _ = ask("set", "-f", "undo.json", "--accept-mismatch", "setting")
    assert code == 0 and [row[1] for row in rows] == [TIMEOUT, LOCKS]
    served.state.cluster_id = "another"
    code, _, err = ask("set", "-f", "undo.json")
    assert code == 2 and "belongs to cluster" in err


@pytest.mark.parametrize("words", [("unset", "*"), ("set", f"{TIMEOUT}=1")])
def test_group_with_another_setting_since_the_plan_is_left_alone(
    ask: Any, served: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """All values of a group are checked and changed together: another new one counts, too."""
    settings = served.state.settings["orders-eu"] = {TIMEOUT: "60000"}

    def changes_another_and_says_yes(prompt: str) -> str:
        settings[LOCKS] = "7"
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", changes_another_and_says_yes)
    code, rows, err = ask(*words, "orders-eu", "--execute")
    assert code == 1 and [row[-2] for row in rows] == ["failed"]
    assert f"{LOCKS} has changed since the plan was made: it was not set, now 7" in err
    assert served.state.settings["orders-eu"] == {TIMEOUT: "60000", LOCKS: "7"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[groups\nx = 1", "line 1"),
        ("x = 1", "unknown key 'x'"),
        ("groups = 1", "no [groups] table found"),
        ("[groups.g]", "groups.'g': contains no settings"),
        ("[groups.g]\na.b = 1.5", "groups.'g': a.b: must be a string, an integer, or true or false"),
        ('[groups."o*"]\na = 1\n[groups."*o"]\na = 2', "equally specific and contradict each other"),
        ('{"schema": "kgroups/undo/v2"}', "has committed offsets"),
    ],
)
def test_invalid_file_is_named(ask: Any, text: str, reason: str) -> None:
    Path("s.toml").write_text(text)
    code, _, err = ask("set", "-f", "s.toml", "oo")
    assert code == 2 and reason in err and "s.toml" in err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("set", "orders-us"), "no settings: use KEY=VALUE"),
        (("set", "a=1", "-f", "s.toml"), "not both"),
        (("set", "=1", "g"), "the name of a setting is missing"),
        (("set", "a=1", "a=2", "g"), "given twice"),
        (("set", "a=1", "g", "--exact"), "--exact requires --from-file"),
        (("unset", ",", "g"), "no settings"),
        (("set", "a=1"), "no groups selected"),
    ],
)
def test_invalid_usage(ask: Any, words: tuple[str, ...], reason: str) -> None:
    code, _, err = ask(*words)
    assert code == 2 and reason in err


def test_undo_file_of_settings_is_not_for_offsets(ask: Any, run_cli: Run, served: Any) -> None:
    assert ask("set", f"{TIMEOUT}=1", "orders-eu", *WRITE)[0] == 0
    code, _, err = run_cli("reset-offsets", "--from-file", "undo.json", "-b", served.bootstrap)
    assert code == 2 and "use kgroups undo" in err


def test_settings_of_several_clusters_are_changed_together(
    run_cli: Run, serve: Callable[..., Any], profiles: Callable[..., None], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = serve(fill=fill), serve(fill=fill)
    one.state.cluster_id, other.state.cluster_id = "A", "B"
    profiles(a=one.bootstrap, b=other.bootstrap)
    words = ("settings", "set", f"{TIMEOUT}=1", "orders-us", "--all-profiles", "--fleet", "-o", "json")
    other.state.fail("DescribeConfigs", "orders-us", ErrorCode.group_authorization_failed, 1)
    code, _, err = run_cli(*words, "--execute", "--yes")
    assert (code, one.state.settings["orders-us"][TIMEOUT]) == (1, "50000") and "nothing was changed" in err
    code, out, err = run_cli(*words, "--execute", "--yes")
    found = json.loads(out)
    results = [(row["cluster"], row["old_value"], row["new_value"], row["result"]) for row in found["items"]]
    assert (code, results) == (0, [("a", "50000", "1", "applied"), ("b", "50000", "1", "applied")]), err
    for name, file in found["undo_files"].items():
        undo = ("undo", file, "--profile", name, "--execute", "--yes")
        assert run_cli(*undo)[0] == 0
    assert {each.state.settings["orders-us"][TIMEOUT] for each in (one, other)} == {"50000"}


def test_settings_of_a_group_that_does_not_exist_are_noted(ask: Any, served: Any) -> None:
    code, rows, err = ask("set", "nosuch-typo", f"{TIMEOUT}=50000")
    assert code == 0 and [row[0] for row in rows] == ["nosuch-typo"]
    assert "group 'nosuch-typo' does not exist: its settings apply when it is created" in err
    assert "does not exist" not in ask("set", "orders-eu", f"{TIMEOUT}=50000")[2]


@pytest.mark.parametrize(
    "words", [("set", f"{TIMEOUT}=50000"), ("unset", TIMEOUT), ("show",)], ids=lambda words: words[0]
)
def test_pattern_without_a_match_is_a_failure(ask: Any, words: tuple[str, ...]) -> None:
    code, rows, err = ask(words[0], "--regex", "nosuch-.*", *words[1:])
    assert (code, rows) == (1, []) and "no group matches --regex 'nosuch-.*'" in err


def test_settings_of_another_group_type_are_not_in_effect(ask: Any, served: Any) -> None:
    served.state.group("new", 0, type="Consumer", state="Empty")
    code, rows, err = ask("set", f"{TIMEOUT}=50000", f"{LOCKS}=7", "orders-*", "new", "later", *WRITE)
    assert code == 0 and {row[6] for row in rows} == {"applied"}
    assert "not in effect: brokers apply consumer.* to Consumer groups only; Classic now: orders-eu" in err
    assert "not in effect: brokers apply share.* to Share groups only; Classic now: orders-eu, orders-us" in err
    assert "not in effect: brokers apply share.* to Share groups only; Consumer now: new" in err
    assert "group 'later' does not exist: its settings apply when it is created" in err
