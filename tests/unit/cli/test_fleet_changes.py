"""Changes of several clusters with ``--fleet``, over fake brokers: plan, confirmation, undo files, and what stops."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.cli.change.reset import Reset
from kgroups.errors import ProtocolError
from tests.fakes.broker import FakeCluster, framed, silence
from tests.fakes.cluster_state import FakeMember
from tests.unit.cli.test_undo import interrupted, offsets, written

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]

FLEET = ("--all-profiles", "--fleet")
RESET = ("reset-offsets", "g", "--all-topics", "--to-latest", *FLEET)
NOW = ("--execute", "--yes")


def shop(cluster_id: str, *groups: str, end: int = 100) -> Callable[[FakeCluster], None]:
    def fill(fake: FakeCluster) -> None:
        fake.state.cluster_id = cluster_id
        fake.state.topic("t", [0, 1], end=end)
        for name in groups:
            fake.state.group(name, 0, commits={("t", 0): 50, ("t", 1): 51})

    return fill


@pytest.fixture
def two(serve: Serve, profiles: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two clusters: ``a`` and ``b``; and the folder of their undo files."""
    monkeypatch.chdir(tmp_path)
    clusters = serve(fill=shop("A", "g")), serve(fill=shop("B", "g", "h", end=90))
    profiles(a=clusters[0].bootstrap, b=clusters[1].bootstrap)
    return clusters


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Let the user type this; returns the prompts."""

    def typing(text: str, then: Callable[[], None] = lambda: None) -> list[str]:
        prompts: list[str] = []

        def type_it(prompt: str) -> str:
            prompts.append(prompt)
            then()
            return text

        monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
        monkeypatch.setattr("click.termui.visible_prompt_func", type_it)
        return prompts

    return typing


def lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


def test_plans_of_all_clusters_are_in_one_table(two: Any, run_cli: Run) -> None:
    code, out, err = run_cli(*RESET, "--columns", "cluster,partition,old_offset,new_offset", "--no-headers")
    assert (code, [line.split() for line in out.splitlines()]) == (
        0,
        [["a", "0", "50", "100"], ["a", "1", "51", "100"], ["b", "0", "50", "90"], ["b", "1", "51", "90"]],
    )
    assert err == ("kgroups: note: dry run on 2 clusters (a, b): nothing was changed; add --execute to apply\n")
    found = json.loads(run_cli(*RESET, "-o", "json")[1])
    assert (found["schema"], found["cluster_id"]) == ("kgroups/reset-offsets/v1", None)
    assert (found["clusters"], found["undo_files"]) == ({"a": "A", "b": "B"}, {})
    assert [(each["cluster"], each["group"], each["result"]) for each in found["items"]] == [
        ("a", "g", None),
        ("a", "g", None),
        ("b", "g", None),
        ("b", "g", None),
    ]


def test_each_cluster_is_written_and_restored_from_its_own_undo_file(two: Any, run_cli: Run, tmp_path: Path) -> None:
    a, b = two
    code, out, err = run_cli(*RESET, *NOW, "--timeout", "20s", "-o", "json")
    found = json.loads(out)
    assert (code, [each["result"] for each in found["items"]]) == (0, ["applied"] * 4)
    assert offsets(a, "g") == {("t", 0): 100, ("t", 1): 100} and offsets(b, "g") == {("t", 0): 90, ("t", 1): 90}
    assert found["undo_files"].keys() == {"a", "b"}
    for name, served in (("a", a), ("b", b)):
        file = found["undo_files"][name]
        assert file.startswith(f"kgroups-undo-{name}-g-")
        (note,) = lines(err, f"kgroups: note: {name}: the old offsets are in {file}; to restore them: ")
        program, *words = shlex.split(note.rpartition("restore them: ")[2])
        assert (program, words) == (
            "kgroups",
            ["undo", file, "--execute", "--profile", name, "--timeout", "20"],
        )
        assert json.loads((tmp_path / file).read_text().splitlines()[0])["bootstrap"] == served.bootstrap
        code, _, err_of_restore = run_cli(*words, "--yes")
        assert code == 0, err_of_restore
        assert offsets(served, "g") == {("t", 0): 50, ("t", 1): 51}
        assert f"{name}: executed on cluster {served.state.cluster_id} ({served.bootstrap})" in err


def test_named_undo_file_has_one_path_for_each_cluster(two: Any, run_cli: Run, tmp_path: Path) -> None:
    assert run_cli(*RESET, *NOW, "--undo-file", "undo.json")[0] == 0
    assert {"undo-a.json", "undo-b.json"} <= {each.name for each in tmp_path.iterdir()}
    code, out, err = run_cli(*RESET, *NOW, "--undo-file", "undo.json")
    assert (code, out) == (2, "") and "undo-a.json already exists and is never overwritten" in err


def test_undo_file_whose_name_two_profiles_share_is_rejected(
    two: Any, profiles: Callable[..., None], run_cli: Run
) -> None:
    profiles(f'[profiles."a/b"]\nbootstrap = "{two[0].bootstrap}"\n', a_b=two[1].bootstrap)
    code, _, err = run_cli(*RESET, *NOW, "--undo-file", "undo.json")
    assert code == 2 and "--undo-file: profiles a_b and a/b have the same file name undo-a_b.json" in err
    assert not written(two[0]) and not written(two[1])


def test_nothing_is_written_if_a_cluster_cannot_be_planned(
    two: Any, profiles: Callable[..., None], run_cli: Run, tmp_path: Path
) -> None:
    a, b = two
    profiles(a=a.bootstrap, b=b.bootstrap, dead="127.0.0.1:1")
    code, out, err = run_cli(*RESET, *NOW, "--no-headers")
    assert (code, len(out.splitlines())) == (1, 4)
    assert lines(err, "kgroups: cluster dead: no bootstrap server responded")
    blocked = "the plan of dead is not complete; to change only the others, add --profile '!dead'"
    assert f"kgroups: note: nothing was changed on 3 clusters (a, b, dead): {blocked}\n" in err
    assert not written(a) and not written(b) and not list(tmp_path.glob("*undo*"))
    code, _, err = run_cli(*RESET)
    assert (
        code == 1
        and f"dry run on 3 clusters (a, b, dead): nothing was changed; --execute would change nothing: {blocked}" in err
    )
    code, _, err = run_cli(*RESET, *NOW, "--profile", "!dead")
    assert (code, lines(err, "kgroups: cluster")) == (0, [])
    assert offsets(a, "g") == {("t", 0): 100, ("t", 1): 100}


@pytest.mark.parametrize("error", [ErrorCode.group_authorization_failed, ErrorCode.coordinator_load_in_progress])
def test_nothing_is_written_if_a_group_of_a_cluster_is_unknown(two: Any, run_cli: Run, error: ErrorCode) -> None:
    two[1].state.fail("OffsetFetch", "g", error, 1000)
    code, _, err = run_cli(*RESET, *NOW, "--timeout", "3s")
    assert code == 1 and lines(err, "kgroups: cluster b: group 'g': "), err
    assert "nothing was changed on 2 clusters (a, b): the plan of b is not complete" in err
    assert not written(two[0]) and not written(two[1])


def test_group_with_members_is_rejected_and_others_are_written(two: Any, run_cli: Run) -> None:
    a, b = two
    a.state.groups["g"].state, a.state.groups["g"].members = "Stable", (FakeMember("m", {"t": (0,)}),)
    code, out, err = run_cli(*RESET, *NOW, "-o", "json")
    assert (code, {each["cluster"] for each in json.loads(out)["items"]}) == (1, {"b"})
    assert lines(err, "kgroups: cluster a: group 'g': the group has active members (state Stable); stop them first")
    assert not written(a) and offsets(b, "g") == {("t", 0): 90, ("t", 1): 90}


def test_group_that_some_clusters_lack_is_no_failure(two: Any, run_cli: Run) -> None:
    a, b = two
    code, _, err = run_cli("reset-offsets", "h", "--all-topics", "--to-latest", *FLEET, *NOW)
    assert (code, lines(err, "kgroups: group"), written(a)) == (0, [], [])
    assert offsets(b, "h") == {("t", 0): 90, ("t", 1): 90}
    code, _, err = run_cli("reset-offsets", "nosuch", "--all-topics", "--to-latest", *FLEET, *NOW)
    assert code == 1 and len(lines(err, "kgroups: group 'nosuch': the group does not exist")) == 1
    assert "note: nothing was changed on 2 clusters (a, b)" in err


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (("--regex", "h.*"), "kgroups: cluster: no group matches --regex 'x.*'"),
        (("h*",), "kgroups: group 'x*': no group has this name or matches it"),
    ],
)
def test_pattern_that_some_clusters_do_not_match_is_no_failure(
    two: Any, run_cli: Run, pattern: tuple[str, ...], message: str
) -> None:
    _, b = two
    code, _, err = run_cli("reset-offsets", *pattern, "--all-topics", "--to-latest", *FLEET, *NOW)
    assert (code, offsets(b, "h")) == (0, {("t", 0): 90, ("t", 1): 90}), err
    unmatched = tuple(word.replace("h", "x") for word in pattern)
    code, _, err = run_cli("reset-offsets", *unmatched, "--all-topics", "--to-latest", *FLEET, *NOW)
    assert (code, len(lines(err, message))) == (1, 1), err


def test_nothing_is_written_if_the_leader_of_a_partition_is_unknown(two: Any, run_cli: Run) -> None:
    a, b = two
    b.state.topics["t"].leaders[1] = 7
    code, _, err = run_cli(*RESET, *NOW)
    assert code == 1 and lines(
        err, "kgroups: cluster b: partition 't-1': its leader, broker 7, is not in the cluster's"
    )
    assert "the plan of b is not complete" in err and not written(a) and not written(b)


def test_clusters_are_changed_after_their_number_was_typed(
    two: Any, profiles: Callable[..., None], serve: Serve, run_cli: Run, answer: Callable[..., list[str]]
) -> None:
    a, b = two
    profiles(a=a.bootstrap, b=b.bootstrap, idle=serve(fill=shop("I", "other")).bootstrap)
    for wrong in ("y", "yes", "", "3 clusters"):
        answer(wrong)
        code, out, err = run_cli(*RESET, "--execute")
        assert (code, out) == (1, "") and err.endswith("kgroups: nothing was changed\n")
    assert not written(a) and not written(b)
    prompts = answer("2 clusters")
    code, _, err = run_cli(*RESET, "--execute")
    assert code == 0, err
    assert prompts == ['To change 2 clusters, type "2 clusters": ']
    plan, _, rest = err.partition("a: Write")
    assert [line.split()[:2] for line in plan.splitlines()[1:5]] == [["a", "g"], ["a", "g"], ["b", "g"], ["b", "g"]]
    assert ["a: Write" + rest.splitlines()[0], *rest.splitlines()[1:3]] == [
        f"a: Write 2 offsets of 1 group on cluster A ({a.bootstrap})",
        f"b: Write 2 offsets of 1 group on cluster B ({b.bootstrap})",
        "idle: nothing to do",
    ]


def test_failure_stops_before_the_next_cluster(
    two: Any, serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    a, b = two
    late = serve(fill=shop("L", "g"))
    profiles(a=a.bootstrap, b=b.bootstrap, late=late.bootstrap)
    a.state.fail("OffsetCommit", "t-1", ErrorCode.offset_metadata_too_large)
    code, out, err = run_cli(*RESET, *NOW, "-o", "json")
    found = json.loads(out)
    why = "not changed: the change of cluster a is not complete"
    assert (code, found["undo_files"].keys()) == (1, {"a"})
    assert [(each["cluster"], each["result"]) for each in found["items"]] == [
        ("a", "applied"),
        ("a", "failed"),
        ("b", "failed"),
        ("b", "failed"),
        ("late", "failed"),
        ("late", "failed"),
    ]
    assert [each["error"] for each in found["items"][2:]] == [why] * 4
    assert f"kgroups: cluster b: {why}\nkgroups: cluster late: {why}\n" in err
    hint = "to continue, select only the clusters that are not complete: --profile a --profile b --profile late --fleet"
    assert lines(err, "kgroups: hint: ") == [f"kgroups: hint: {hint}"]
    assert not written(b) and not written(late)


def test_cluster_that_is_lost_before_its_write_is_not_changed(
    two: Any, run_cli: Run, answer: Callable[..., list[str]]
) -> None:
    a, b = two

    def lose() -> None:
        a.state.cluster_id = "another"

    answer("2 clusters", lose)
    code, out, err = run_cli(*RESET, "--execute", "-o", "json")
    assert (code, {each["result"] for each in json.loads(out)["items"]}) == (1, {"failed"})
    assert "kgroups: cluster a: not changed: the plan is for cluster A, but the bootstrap servers now belong to" in err
    assert "kgroups: cluster b: not changed: the change of cluster a is not complete" in err
    assert not written(a) and not written(b)


def test_error_after_a_write_was_sent_leaves_the_result_unknown(
    two: Any, run_cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Reset.write

    async def write_and_fail(*arguments: Any) -> Any:
        await write(*arguments)
        raise ProtocolError("not expected")

    monkeypatch.setattr(Reset, "write", write_and_fail)
    code, out, err = run_cli(*RESET, *NOW, "-o", "json")
    results = [(each["cluster"], each["result"], each["error"]) for each in json.loads(out)["items"]]
    assert (code, results) == (
        1,
        [("a", "unknown", "the result is unknown: not expected")] * 2
        + [("b", "failed", "not changed: the change of cluster a is not complete")] * 2,
    )
    assert "kgroups: cluster a: the result is unknown: not expected\n" in err


def test_plan_is_written_with_the_settings_it_was_made_with(
    two: Any, profiles: Callable[..., None], run_cli: Run, answer: Callable[..., list[str]]
) -> None:
    a, b = two
    answer("2 clusters", lambda: profiles(a="127.0.0.1:1", b="127.0.0.1:1"))
    assert run_cli(*RESET, "--execute")[0] == 0
    assert offsets(a, "g") == {("t", 0): 100, ("t", 1): 100} and offsets(b, "g") == {("t", 0): 90, ("t", 1): 90}


def test_group_that_changed_during_the_confirmation_stops_the_change(
    two: Any, run_cli: Run, answer: Callable[..., list[str]]
) -> None:
    a, b = two
    answer("2 clusters", lambda: a.state.groups["g"].commits.update({("t", 0): 60}))
    code, _, err = run_cli(*RESET, "--execute")
    assert code == 1 and lines(err, "kgroups: cluster a: group 'g': ") and not written(a) and not written(b)


def test_cluster_of_two_profiles_is_changed_once(two: Any, profiles: Callable[..., None], run_cli: Run) -> None:
    a, _ = two
    profiles(one=a.bootstrap, two=a.bootstrap)
    code, out, err = run_cli(*RESET, *NOW, "-o", "json")
    assert (code, {each["cluster"] for each in json.loads(out)["items"]}) == (0, {"one"})
    assert written(a) == ["OffsetCommit"] and "two and one are the same cluster, shown once, as one" in err


def test_groups_of_all_clusters_are_deleted(two: Any, run_cli: Run, tmp_path: Path) -> None:
    a, b = two
    code, out, _ = run_cli("delete", "g", "h", *FLEET, *NOW, "-o", "json")
    assert (code, [(each["cluster"], each["group"], each["result"]) for each in json.loads(out)["items"]]) == (
        0,
        [("a", "g", "applied"), ("b", "g", "applied"), ("b", "h", "applied")],
    )
    assert not a.state.groups and not b.state.groups
    (file,) = tmp_path.glob("kgroups-undo-b-2-groups-*.json")
    assert run_cli("reset-offsets", "--from-file", str(file), "--profile", "b", *NOW)[0] == 0
    assert offsets(b, "h") == {("t", 0): 50, ("t", 1): 51}


def test_offsets_of_all_clusters_are_deleted(two: Any, run_cli: Run, tmp_path: Path) -> None:
    a, b = two
    assert run_cli("delete-offsets", "g", "--topic", "t:0", *FLEET, *NOW)[0] == 0
    assert offsets(a, "g") == {("t", 1): 51} and offsets(b, "g") == {("t", 1): 51}
    assert len(list(tmp_path.glob("kgroups-undo-?-g-*.json"))) == 2


def test_members_of_all_clusters_are_removed(two: Any, run_cli: Run, tmp_path: Path) -> None:
    for served in two:
        served.state.group("busy", 0, state="Stable", members=(FakeMember("m", {"t": (0,)}),))
    code, out, _ = run_cli("remove-members", "busy", "--all-members", *FLEET, *NOW, "-o", "json")
    found = json.loads(out)
    assert (code, found["clusters"], "undo_files" in found) == (0, {"a": "A", "b": "B"}, False)
    assert [(each["cluster"], each["consumer_id"], each["result"]) for each in found["items"]] == [
        ("a", "m", "applied"),
        ("b", "m", "applied"),
    ]
    assert not list(tmp_path.glob("kgroups-undo*"))


def test_offsets_are_copied_from_a_group_of_the_same_cluster(two: Any, run_cli: Run) -> None:
    a, b = two
    for served, offset in ((a, 1), (b, 2)):
        served.state.group("source", 0, commits={("t", 0): offset, ("t", 1): offset})
    assert run_cli("reset-offsets", "g", "--to-group", "source", *FLEET, *NOW)[0] == 0
    assert offsets(a, "g") == {("t", 0): 1, ("t", 1): 1} and offsets(b, "g") == {("t", 0): 2, ("t", 1): 2}
    code, _, err = run_cli("reset-offsets", "g", "--to-group", "h", *FLEET, *NOW)
    assert code == 1 and lines(err, "kgroups: cluster a: --to-group: group 'h'") and len(written(b)) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--profile", "a", "--profile", "b"),
            "without --fleet, this command changes one cluster; selected profiles: a, b",
        ),
        (("--profile", "*"), "without --fleet, this command changes one cluster; selected profiles: a, b"),
        (("--all-profiles",), "kgroups: hint: to change all of them, with an undo file for each, add --fleet"),
        (("--fleet",), "--fleet requires --profile or --all-profiles"),
        (("--profile", "a", "--cluster-timeout", "1s"), "--cluster-timeout requires several profiles"),
        ((*FLEET, "-b", "h:1"), "--bootstrap-server cannot be combined with several profiles"),
        ((*FLEET, "-X", "sasl.password=p"), "-X cannot be combined with several profiles"),
        ((*FLEET, "--when-empty", "1s", *NOW), "--when-empty cannot be combined with --fleet"),
        ((*FLEET, "--export"), "--export cannot be combined with --fleet: a file is for one cluster"),
        ((*FLEET, "--execute"), "--execute requires confirmation, and standard input is not a terminal; add --yes"),
        ((*FLEET, "--profile", "a"), "--all-profiles can be combined only with profiles to leave out"),
        ((*FLEET, "--columns", "nosuch"), "use cluster, group"),
    ],
)
def test_invalid_combinations_are_rejected(two: Any, run_cli: Run, words: tuple[str, ...], message: str) -> None:
    code, out, err = run_cli("reset-offsets", "g", "--all-topics", "--to-latest", *words)
    assert (code, out) == (2, "") and message in err
    assert not two[0].fake.requests and not two[1].fake.requests


def test_file_is_for_one_cluster(two: Any, run_cli: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("g,t,0,1\n")
    code, _, err = run_cli("reset-offsets", "--from-file", "plan.csv", *FLEET)
    assert code == 2 and "--from-file cannot be combined with --fleet: a file is for one cluster" in err


def test_fleet_of_one_profile_has_the_output_of_a_fleet(two: Any, run_cli: Run) -> None:
    code, out, _ = run_cli("delete", "g", "--profile", "a", "--fleet", "-o", "json")
    found = json.loads(out)
    assert (code, found["clusters"], found["items"][0]["cluster"]) == (0, {"a": "A"}, "a")


def test_interrupted_change_reports_every_cluster(
    two: Any, serve: Serve, profiles: Callable[..., None], tmp_path: Path
) -> None:
    """The first cluster is written, the second one does not respond, and the third one was not sent anything."""
    a, b = two
    late = serve(fill=shop("L", "g"))
    profiles(a=a.bootstrap, b=b.bootstrap, late=late.bootstrap)
    b.fake.brokers[0].fault("OffsetCommit", silence)
    code, out, err = interrupted(lambda: bool(written(b)), signal.SIGTERM, *RESET, "--undo-file", "undo.json")
    assert code == 143, err
    found = json.loads(out)
    assert [(each["cluster"], each["result"]) for each in found["items"]] == [
        ("a", "applied"),
        ("a", "applied"),
        ("b", "unknown"),
        ("b", "unknown"),
        ("late", "failed"),
        ("late", "failed"),
    ]
    assert found["undo_files"] == {"a": "undo-a.json", "b": "undo-b.json"}
    assert "kgroups: cluster late: not changed: interrupted by SIGTERM\n" in err and not written(late)
    assert err.splitlines()[-1] == (
        "kgroups: interrupted by SIGTERM, 2 applied, 2 failed, 2 unknown; to restore the old offsets: "
        "kgroups undo undo-a.json --execute --profile a; "
        "kgroups undo undo-b.json --execute --profile b"
    )


def test_interrupted_connection_to_the_next_cluster_leaves_it_unchanged(two: Any) -> None:
    a, b = two

    async def hang_next(writer: asyncio.StreamWriter, answer: bytes) -> None:
        for broker in b.fake.brokers.values():
            broker.fault("*", silence)
        writer.write(framed(answer))

    a.fake.brokers[0].fault("OffsetCommit", hang_next)

    def connecting() -> bool:
        return bool(written(a)) and b.fake.requests[-1].api == "ApiVersions"

    code, out, err = interrupted(connecting, signal.SIGINT, *RESET, "--undo-file", "undo.json")
    assert code == 130, err
    found = json.loads(out)
    assert [(each["cluster"], each["result"]) for each in found["items"]] == [
        *[("a", "applied")] * 2,
        *[("b", "failed")] * 2,
    ]
    assert found["undo_files"] == {"a": "undo-a.json"}
    assert "kgroups: cluster b: not changed: interrupted by SIGINT\n" in err and not written(b)


def test_cluster_to_which_nothing_was_sent_is_not_called_executed(
    two: Any, run_cli: Run, answer: Callable[..., list[str]]
) -> None:
    a, b = two

    def change() -> None:
        a.state.groups["g"].commits["t", 0] = 1

    answer("2 clusters", change)
    code, out, err = run_cli(*RESET, "--execute", "-o", "json")
    assert (code, {each["result"] for each in json.loads(out)["items"]}) == (1, {"failed"})
    assert f"a: no change was sent to cluster {a.state.cluster_id}" in err and "executed on" not in err
    assert not written(a) and not written(b)
