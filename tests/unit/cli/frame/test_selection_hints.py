"""Empty selections say why: topics and groups that do not exist, and patterns that match nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.broker import FakeCluster, close

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
        (
            "orders:0",
            "--topic: 'orders:0' names partitions, but this option selects whole topics; use orders, "
            "or kgroups owners orders:0",
        ),
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


def test_missing_group_of_the_option_names_the_argument(run: Run) -> None:
    code, out, err = run("describe", "--group", "orders-*", "-o", "json")
    hint = "the names of --group are literal; to select groups by a glob, use the argument 'orders-*'"
    assert (code, json.loads(out)["failures"][0]["hint"]) == (1, hint)
    assert f"kgroups: hint: {hint}\n" in err


COMMANDS = [
    *VIEWS,
    ("list",),
    ("explain",),
    ("delete",),
    ("delete", "--execute", "--yes"),
    ("remove-members", "--all-members"),
    ("reset-offsets", "--all-topics", "--to-latest"),
    ("delete-offsets", "--topic", "orders"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_glob_without_match_is_a_failure_with_similar_names(run: Run, command: tuple[str, ...]) -> None:
    code, _, err = run(*command, "order-*")
    assert code == 1
    assert "kgroups: group 'order-*': no group has this name or matches it [GROUP_ID_NOT_FOUND]\n" in err
    assert "kgroups: hint: similar names: 'orders-late', 'orders-range'\n" in err
    assert "similar" not in run(*command, "*frobnicate*")[2]


@pytest.mark.parametrize("command", COMMANDS[: COMMANDS.index(("explain",))], ids=" ".join)
def test_filter_without_match_is_noted(run: Run, command: tuple[str, ...]) -> None:
    option = "--in-state" if command[0] == "describe" else "--state"
    code, _, err = run(*command, "orders-*", option, "dead")
    assert (code, err) == (0, "kgroups: note: no group matches 'orders-*' with the state Dead\n")
    assert "no group matches with the state Dead\n" in run(*command, option, "dead")[2]


def test_filter_of_a_change_without_match_is_noted(run: Run) -> None:
    code, _, err = run("delete", "--all-groups", "--state", "dead")
    assert code == 0 and "kgroups: note: no group matches with the state Dead\n" in err


@pytest.mark.parametrize("command", [("lag",), ("describe",)], ids=" ".join)
def test_regex_without_match_is_noted_next_to_named_groups(run: Run, command: tuple[str, ...]) -> None:
    code, out, err = run(*command, "orders-late", "--regex", "orders", "--columns", "group", "--no-headers")
    assert (code, out.split()) == (0, ["orders-late"])
    assert "no group matches --regex 'orders': the whole name must match; try --regex 'orders.*'\n" in err


@pytest.mark.parametrize("words", [("orders-late", "--state", "empty"), ("orders-late", "--type", "share")])
def test_group_selected_by_name_is_not_filtered(run: Run, words: tuple[str, ...]) -> None:
    for command in ("list", "lag", "delete"):
        code, out, err = run(command, *words)
        assert (code, out) == (2, "")
        assert "the group 'orders-late' is selected by name and cannot be filtered by" in err


def test_filter_alone_selects_no_group_to_change(run: Run) -> None:
    for words in (("delete", "--state", "empty"), ("delete", "--topic", "orders"), ("remove-members", "--all-members")):
        code, _, err = run(*words)
        assert code == 2 and "no groups selected; use GROUP, --group, --regex or --all-groups" in err


def test_change_by_glob_is_refused_if_the_list_is_incomplete(run_cli: Run, serve: Callable) -> None:
    """A group that was not listed may have the name that is taken for a glob."""

    def fill(fake: FakeCluster) -> None:
        shop(fake)
        fake.brokers[1].fault("ListGroups", close)

    bootstrap = serve(2, fill=fill).bootstrap
    for words in (("delete",), ("remove-members", "--all-members"), ("delete-offsets", "--topic", "orders")):
        code, out, err = run_cli(*words, "orders-*", "--execute", "--yes", "-b", bootstrap)
        assert (code, out) == (1, "")
        assert "'orders-*' may be the name of a group, and the list of groups is incomplete" in err


def test_globs_select_groups_of_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("orders-late,orders,0,0\norders-range,orders,0,0\n")
    words = ("reset-offsets", "--from-file", str(file))
    assert run(*words, "*-late", "--columns", "group", "--no-headers")[1].split() == ["orders-late"]
    code, _, err = run(*words, "x*")
    assert (code, err) == (2, f"kgroups: error: --from-file: no group of {file} matches 'x*'\n")
    assert run(*words, "--all-groups", "--state", "empty")[0] == 2


def test_state_as_a_group_names_the_filter_of_list(run: Run) -> None:
    code, _, err = run("describe", "orders-range", "--state", "Stable")
    assert code == 1
    assert (
        "hint: to select groups by their state, use --state Stable, or --in-state Stable of describe and check\n" in err
    )


def test_all_groups_with_other_selection_names_it(run: Run) -> None:
    assert "--all-groups cannot be combined with the group 'a'\n" in run("describe", "a", "--all-groups")[2]
    assert "--all-groups cannot be combined with --regex\n" in run("describe", "--regex", "a", "--all-groups")[2]


def test_deleted_topic_of_a_commit_has_a_hint(run_cli: Run, serve: Callable) -> None:
    def fill(fake: FakeCluster) -> None:
        shop(fake)
        fake.state.group("left", 0, commits={("deleted", 0): 1, ("deleted-2", 0): 1})

    bootstrap = serve(fill=fill).bootstrap
    for command, hint in (
        (
            ("lag",),
            "to see the groups with offsets on deleted topics: kgroups describe --topic deleted --topic deleted-2",
        ),
        (
            ("describe", "--all-groups"),
            "to delete the offsets on deleted topics: kgroups delete-offsets left --topic deleted --topic deleted-2",
        ),
    ):
        code, _, err = run_cli(*command, "-b", bootstrap)
        assert code == 1
        assert err.count("kgroups: hint: ") == 1
        assert err.endswith(f"kgroups: hint: {hint}\n")
