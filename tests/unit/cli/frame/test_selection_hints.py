"""Empty selections say why: topics and groups that do not exist, and patterns that match nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.fakes.broker import FakeCluster

Run = Callable[..., tuple[int, str, str]]

VIEWS = [
    ("describe",),
    ("describe", "--members"),
    ("describe", "--state"),
    ("describe", "--topology"),
    ("describe", "--summary"),
    ("describe", "--all-views"),
    ("lag",),
    ("lag", "--time"),
]


def shop(fake: FakeCluster) -> None:
    for topic in ("orders", "payments"):
        fake.state.topic(topic, [0])
    for name in ("orders-range", "orders-late"):
        fake.state.group(name, 0, commits={("orders", 0): 1})


@pytest.fixture
def run(run_cli: Run, serve: Callable) -> Run:
    bootstrap = serve(fill=shop).bootstrap
    return lambda *words: run_cli(*words, "-b", bootstrap)


@pytest.mark.parametrize("view", VIEWS, ids=" ".join)
def test_missing_topic_is_a_failure(run: Run, view: tuple[str, ...]) -> None:
    code, _, err = run(*view, "orders-range", "--topic", "nosuch")
    assert code == 1
    assert "kgroups: topic 'nosuch': the topic or partition does not exist" in err
    assert "no group" not in err


def test_missing_topic_is_a_failure_next_to_the_rows_of_others(run: Run) -> None:
    code, out, _ = run("describe", "--all-groups", "--topic", "orders", "--topic", "nosuch", "-o", "json")
    answer = json.loads(out)
    assert code == 1 and len(answer["items"]) == 2
    assert [(each["scope"], each["name"], each["error"]) for each in answer["failures"]] == [
        ("topic", "nosuch", "UNKNOWN_TOPIC_OR_PARTITION")
    ]


def test_watch_reports_missing_topic(run: Run) -> None:
    code, out, _ = run("watch", "--topic", "nosuch", "--count", "1")
    assert code == 1
    assert [each["name"] for each in json.loads(out)["failures"]] == ["nosuch"]


@pytest.mark.parametrize("view", [view for view in VIEWS if view[-1] != "--topology"], ids=" ".join)
def test_topic_that_no_group_uses_is_noted(run: Run, view: tuple[str, ...]) -> None:
    code, _, err = run(*view, "orders-range", "--topic", "payments")
    assert (code, err) == (0, "kgroups: note: no selected group has committed offsets or assignments on payments\n")


def test_filtered_rows_are_no_empty_selection(run: Run) -> None:
    assert run("lag", "--min", "5000", "--topic", "orders")[2] == ""


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("orders:0", "--topic: 'orders:0' names partitions, but this option selects whole topics; use orders"),
        ("ord*", "--topic: 'ord*' is not a valid topic name; patterns are not supported"),
        ("a b", "--topic: 'a b' is not a valid topic name"),
    ],
)
def test_invalid_topic_is_a_usage_error(run: Run, topic: str, message: str) -> None:
    for command in ("describe", "lag", "watch"):
        assert run(command, "--topic", topic) == (2, "", f"kgroups: error: {message}\n")


@pytest.mark.parametrize(
    ("regex", "hint"),
    [
        ("orders", "; try --regex 'orders.*'"),
        ("orders-*", "; try --regex 'orders-.*'"),
        ("range", "; try --regex '.*range.*'"),
        ("nosuch", ""),
    ],
)
def test_regex_without_match_suggests_one_that_matches(run: Run, regex: str, hint: str) -> None:
    for view in (("describe",), ("describe", "--state"), ("lag",)):
        assert run(*view, "--regex", regex) == (
            0,
            run(*view, "--regex", "nosuch")[1],
            f"kgroups: note: no group matches --regex '{regex}': the whole name must match{hint}\n",
        )


@pytest.mark.parametrize("command", [("describe",), ("lag",), ("explain",), ("delete",)], ids=" ".join)
def test_missing_group_suggests_a_similar_name(run: Run, command: tuple[str, ...]) -> None:
    code, _, err = run(*command, "order-range")
    assert code == 1
    assert "kgroups: group 'order-range': the group does not exist [GROUP_ID_NOT_FOUND]\n" in err
    assert "kgroups: hint: did you mean 'orders-range'?\n" in err
    assert "hint" not in run(*command, "frobnicate")[2]


def test_missing_group_with_a_glob_names_the_regex(run: Run) -> None:
    code, out, err = run("describe", "orders-*", "-o", "json")
    hint = "names of groups are literal; to select groups by a pattern, use --regex 'orders-.*'"
    assert (code, json.loads(out)["failures"][0]["hint"]) == (1, hint)
    assert f"kgroups: hint: {hint}\n" in err


def test_state_as_a_group_names_the_filter_of_list(run: Run) -> None:
    code, _, err = run("describe", "orders-range", "--state", "Stable")
    assert code == 1
    assert "kgroups: hint: to select groups by their state, use: kgroups list --state Stable\n" in err


def test_all_groups_with_other_selection_names_it(run: Run) -> None:
    assert "--all-groups cannot be combined with the group 'a'\n" in run("describe", "a", "--all-groups")[2]
    assert "--all-groups cannot be combined with --regex\n" in run("describe", "--regex", "a", "--all-groups")[2]


def test_deleted_topic_of_a_commit_has_a_hint(run_cli: Run, serve: Callable) -> None:
    def fill(fake: FakeCluster) -> None:
        shop(fake)
        fake.state.group("left", 0, commits={("deleted", 0): 1, ("deleted-2", 0): 1})

    bootstrap = serve(fill=fill).bootstrap
    for command in (("lag",), ("describe", "--all-groups")):
        code, _, err = run_cli(*command, "-b", bootstrap)
        assert code == 1
        assert err.count("kgroups: hint: ") == 1
        assert err.endswith("to delete these offsets: kgroups delete-offsets GROUP --topic TOPIC\n")
