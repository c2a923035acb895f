"""Save snapshots of fake clusters, and read them: what they contain, and which files are rejected."""

from __future__ import annotations

import gzip
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.snapshot.file import read_snapshot
from kgroups.model.offsets import Commit
from kgroups.model.snapshot.snapshot import commits_of
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import batch

Run = Callable[..., tuple[int, str, str]]
FILE = "a.snapshot"


def shop(fake: FakeCluster) -> None:
    fake.state.topic("t", [0, 1], start=10, end=100, topic_id=7, history={1: {3: 10, 4: 51}})
    fake.state.topic("other", [1], end=50, topic_id=8)
    fake.state.group("a", 0, commits={("t", 0): Commit(0, 50, 4), ("t", 1): Commit(1, 51, 3, "noted")})
    member = FakeMember("m-1", {"t": (0, 1)}, instance_id="static")
    fake.state.group("b", 1, state="Stable", members=(member,), commits={("t", 0): 5, ("other", 0): 9})
    fake.state.group("c", 1, type="Consumer", commits={("t", 0): 60})
    fake.state.settings["c"] = {"consumer.session.timeout.ms": "50000"}


@pytest.fixture
def served(serve: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(fill=shop)


@pytest.fixture
def save(run_cli: Run, served: Any) -> Run:
    return lambda *words: run_cli("snapshot", "save", FILE, *words, "-b", served.bootstrap, "-o", "json")


def test_file_contains_the_state(save: Run) -> None:
    code, out, err = save("--all-groups")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)["items"]
    assert (row["groups"], row["members"], row["topics"], row["offsets"], row["complete"]) == (3, 1, 2, 5, True)
    assert stat.S_IMODE(Path(FILE).stat().st_mode) == 0o600
    found = read_snapshot(Path(FILE))
    assert found.source.cluster_id == "fake-cluster" and found.source.topic_ids == {"t": 7, "other": 8}
    a, b, c = found.groups
    assert commits_of(a) == {("t", 0): Commit(0, 50, 4), ("t", 1): Commit(1, 51, 3, "noted")}
    assert b.group.state == "Stable" and b.group.members and b.group.members[0].instance_id == "static"
    assert str(b.group.members[0].assignment) == "t:0,1"
    assert c.group.type == "Consumer" and found.configs == {"c": {"consumer.session.timeout.ms": "50000"}}
    assert found.logs.offsets["t"][1] == (10, 100) and found.extent.everything and not found.failures


def test_views_of_a_file_equal_those_of_the_cluster(save: Run, run_cli: Run, served: Any) -> None:
    assert save("--all-groups")[0] == 0
    for view, option in (("--offsets", "--offsets"), ("--groups", "--summary"), ("--members", "--members")):
        columns = {"--members": ("--columns", "group,consumer_id,host,partitions,current_assignment")}.get(view, ())
        shown = run_cli("snapshot", "show", FILE, view, "-o", "json", *columns)
        live = run_cli("describe", "--all-groups", option, "-b", served.bootstrap, "-o", "json", *columns)
        found, expected = (json.loads(each[1])["items"] for each in (shown, live))
        for rows in (found, expected):
            for row in rows:
                row.pop("target_assignment_epoch", None)
        assert shown[0] == 0 and found == expected, view
    code, out, _ = run_cli("snapshot", "show", FILE, "--configs", "-o", "csv")
    assert (code, out) == (0, "group,name,value\nc,consumer.session.timeout.ms,50000\n")


def test_no_broker_is_contacted_to_show(save: Run, run_cli: Run, served: Any) -> None:
    assert save("--all-groups")[0] == 0
    before = len(served.fake.requests)
    assert run_cli("snapshot", "show", FILE)[0] == 0
    assert len(served.fake.requests) == before


def test_groups_are_read_in_batches(serve: Callable[..., Any], run_cli: Run, tmp_path: Path) -> None:
    def many(fake: FakeCluster) -> None:
        fake.state.topic("t", [0, 1])
        for number in range(1_200):
            fake.state.group(f"g-{number:04}", number % 2, type="Consumer", commits={("t", 0): number})

    served = serve(fill=many)
    code, _, err = run_cli("snapshot", "save", str(tmp_path / FILE), "--all-groups", "-b", served.bootstrap)
    assert code == 0, err
    assert len(read_snapshot(tmp_path / FILE).groups) == 1_200
    assert len(served.fake.requests) < 60


@pytest.mark.parametrize(
    ("words", "groups"),
    [(("a", "b"), "ab"), (("[ab]",), "ab"), (("--regex", "b|c"), "bc"), (("--type", "consumer"), "c"), (("a",), "a")],
)
def test_selection(save: Run, words: tuple[str, ...], groups: str) -> None:
    assert save(*words)[0] == 0
    assert "".join(each.group.group for each in read_snapshot(Path(FILE)).groups) == groups


def test_topic_limits_the_offsets(save: Run) -> None:
    assert save("--topic", "other")[0] == 0
    found = read_snapshot(Path(FILE))
    assert [list(commits_of(each)) for each in found.groups] == [[("other", 0)]] and found.extent.topics == ("other",)


@pytest.mark.parametrize("words", [("nosuch",), ("z*",), ("--regex", "z.*"), ("--state", "dead")])
def test_selection_without_groups_saves_nothing(save: Run, words: tuple[str, ...]) -> None:
    code, out, err = save(*words)
    assert code == 1 and json.loads(out)["items"] == [] and "nothing was saved" in err
    assert not list(Path().iterdir())


def test_unreadable_group_is_recorded_and_named(save: Run, served: Any, run_cli: Run) -> None:
    served.state.fail("DescribeGroups", "a", ErrorCode.group_authorization_failed)
    served.state.fail("OffsetFetch", "a", ErrorCode.group_authorization_failed)
    code, _, err = save("--all-groups")
    assert code == 1 and "group 'a': not authorized" in err and f"{FILE} is partial" in err
    for words in ((), ("--groups",), ("--offsets",)):
        code, _, err = run_cli("snapshot", "show", FILE, *words)
        assert code == 1 and f"{FILE} is partial" in err and "group 'a': not authorized" in err
    code, _, err = run_cli("snapshot", "restore", FILE, "-b", served.bootstrap)
    assert code == 1 and "group 'a': not restored completely: it could not be read" in err


def test_unreadable_configuration_is_recorded_and_named(save: Run, served: Any) -> None:
    served.state.fail("DescribeConfigs", "c", ErrorCode.group_authorization_failed)
    code, _, err = save("--all-groups")
    assert code == 1
    assert "group 'c': its dynamic configuration is unknown: not authorized: needs DESCRIBE_CONFIGS on GROUP c" in err


def test_broker_without_group_configurations_has_none(save: Run, served: Any) -> None:
    served.state.fail("DescribeConfigs", "c", ErrorCode.invalid_request)
    assert save("--all-groups")[0] == 0
    assert read_snapshot(Path(FILE)).configs == {"c": {}}


def test_silent_broker_makes_the_snapshot_partial(save: Run, served: Any) -> None:
    served.fake.brokers[1].fault("*", silence)
    code, _, err = save("--all-groups", "--broker-timeout", "2s")
    assert code == 1 and "broker 1" in err
    assert [each.group.group for each in read_snapshot(Path(FILE)).groups] == ["a"]


def test_omitted_groups_make_the_snapshot_partial(save: Run, served: Any) -> None:
    served.state.operations = 0
    code, _, err = save("--all-groups")
    assert code == 1 and "groups may be missing: needs DESCRIBE on CLUSTER" in err


def test_deleted_topic_is_not_a_failure(save: Run, served: Any) -> None:
    del served.state.topics["other"]
    code, _, err = save("--all-groups")
    assert code == 0 and "topic 'other' does not exist" in err
    found = read_snapshot(Path(FILE))
    assert found.missing_topics == {"other"} and ("other", 0) in commits_of(found.groups[1])


def test_existing_file_is_kept(save: Run) -> None:
    Path(FILE).write_text("mine")
    code, _, err = save("--all-groups")
    assert code == 2 and "already exists" in err and Path(FILE).read_text() == "mine"
    assert save("--all-groups", "--overwrite")[0] == 0
    assert len(read_snapshot(Path(FILE)).groups) == 3


@pytest.mark.parametrize(("path", "named"), [(".", "is a directory"), ("no/file", "the directory no does not exist")])
def test_path_is_checked_first(run_cli: Run, served: Any, path: str, named: str) -> None:
    before = len(served.fake.requests)
    code, _, err = run_cli("snapshot", "save", path, "--all-groups", "-b", served.bootstrap)
    assert code == 2 and named in err and len(served.fake.requests) == before


def test_failed_write_leaves_nothing(save: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, _, err = save("--all-groups")
    assert code == 2 and "No space left on device" in err and not list(Path().iterdir())


# Files that are not snapshots, or not whole ones.


def lines_of(file: str) -> list[bytes]:
    return gzip.decompress(Path(file).read_bytes()).splitlines(keepends=True)


def errors(run_cli: Run, served: Any, file: str = FILE) -> set[str]:
    """Return what each command that reads the file prints; all exit with 2 before a broker is contacted."""
    before = len(served.fake.requests)
    found = set()
    for words in (("show",), ("diff",), ("restore", "--execute", "--yes")):
        connection = () if words == ("show",) else ("-b", served.bootstrap)
        code, out, err = run_cli("snapshot", words[0], file, *words[1:], *connection)
        assert (code, out) == (2, ""), err
        assert err.count("\n") == 1
        found.add(err.strip())
    assert len(served.fake.requests) == before
    return found


def test_truncated_file_is_named_wherever_it_ends(save: Run, run_cli: Run, served: Any) -> None:
    served.state.topics["t"].logs = {0: [batch(10, [(at, 1_000 + at) for at in range(90)])]}
    assert save("--all-groups", "--with-records")[0] == 1  # the other logs of the fake contain no records
    packed, lines = Path(FILE).read_bytes(), lines_of(FILE)
    assert {next(iter(json.loads(line))) for line in lines} == {
        *("schema", "topic", "group", "record", "failure", "end")
    }
    for size in (1, 5, 12, len(packed) // 2, len(packed) - 9, len(packed) - 1):
        Path(FILE).write_bytes(packed[:size])
        (error,) = errors(run_cli, served)
        assert f"{FILE}: truncated" in error or "not a snapshot" in error
    for number in range(1, len(lines)):
        Path(FILE).write_bytes(gzip.compress(b"".join(lines[:number])))
        assert errors(run_cli, served) == {
            f"kgroups: error: {FILE}: truncated: its last line, with the counts and the checksum, is missing"
        }
    Path(FILE).write_bytes(gzip.compress(b"".join(lines)[:-5]))
    assert "truncated" in errors(run_cli, served).pop()


def test_edited_file_is_named(save: Run, run_cli: Run, served: Any) -> None:
    assert save("a")[0] == 0
    packed, lines = Path(FILE).read_bytes(), lines_of(FILE)
    for at in (30, len(packed) // 2, len(packed) - 6):
        Path(FILE).write_bytes(packed[:at] + bytes((packed[at] ^ 1,)) + packed[at + 1 :])
        (error,) = errors(run_cli, served)
        assert "damaged" in error or "changed" in error or "truncated" in error, error
    Path(FILE).write_bytes(gzip.compress(b"".join(lines).replace(b"[0,50,4]", b"[0,51,4]")))
    assert "changed after it was written: its checksum (SHA-256) differs" in errors(run_cli, served).pop()
    Path(FILE).write_bytes(gzip.compress(b"".join([*lines[:1], *lines[2:]])))
    assert "changed after it was written" in errors(run_cli, served).pop()


def signed(lines: list[bytes], **counts: int) -> bytes:
    """Return lines with a trailer that fits."""
    import hashlib

    data = b"".join(lines)
    found = {"topics": 0, "groups": 0, "records": 0, "failures": 0, **counts}
    trailer = {"end": found, "sha256": hashlib.sha256(data).hexdigest()}
    return gzip.compress(data + json.dumps(trailer).encode() + b"\n")


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ({"topic": "t"}, {"topics": 1}),
        ({"topic": "t", "id": "x", "logs": []}, {"topics": 1}),
        ({"topic": "t", "id": None, "logs": [[0, "1", 2]]}, {"topics": 1}),
        ({"group": 1}, {"groups": 1}),
        ({"record": ["t", 0]}, {"records": 1}),
        ({"failure": {"scope": "planet"}}, {"failures": 1}),
        ({"unknown": 1}, {}),
        ({}, {}),
        ([], {}),
        (1, {}),
    ],
)
def test_invalid_line_is_named(save: Run, run_cli: Run, served: Any, line: object, counts: dict[str, int]) -> None:
    assert save("a")[0] == 0
    header = lines_of(FILE)[0]
    Path(FILE).write_bytes(signed([header, json.dumps(line).encode() + b"\n"], **counts))
    assert f"{FILE}, line 2: not a line of a snapshot" in errors(run_cli, served).pop()


def test_invalid_commit_is_named(save: Run, run_cli: Run, served: Any) -> None:
    assert save("a")[0] == 0
    header, topic, group, _ = lines_of(FILE)
    for offset in (b'"5"', b"-1", b"1e9", b"null", b"9223372036854775808", b"true"):
        Path(FILE).write_bytes(signed([header, topic, group.replace(b"50,", offset + b",")], topics=1, groups=1))
        assert f"{FILE}, line 3: " in errors(run_cli, served).pop()


def test_wrong_counts_are_named(save: Run, run_cli: Run, served: Any) -> None:
    assert save("a")[0] == 0
    Path(FILE).write_bytes(signed(lines_of(FILE)[:1], groups=1))
    assert "the counts in its last line differ" in errors(run_cli, served).pop()


def test_newer_format_is_named(save: Run, run_cli: Run, served: Any) -> None:
    assert save("a")[0] == 0
    header = lines_of(FILE)[0].replace(b"snapshot/v1", b"snapshot/v2")
    Path(FILE).write_bytes(signed([header]))
    error = errors(run_cli, served).pop()
    assert "its format kgroups/snapshot/v2 of kgroups " in error and "this version reads kgroups/snapshot/v1" in error


@pytest.mark.parametrize("data", [b"hello\n", b'{"schema": "kgroups/undo/v2"}\n', b"[1]\n", b"\0" * 40, b"\xff\xfe\n"])
def test_foreign_file_is_named(run_cli: Run, served: Any, data: bytes) -> None:
    for contents in (data, gzip.compress(data)):
        Path(FILE).write_bytes(contents)
        assert errors(run_cli, served) == {f"kgroups: error: {FILE}: not a snapshot of kgroups"}


def test_unreadable_path_is_named(run_cli: Run, served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No such file" in errors(run_cli, served, "nosuch").pop()
    assert "Is a directory" in errors(run_cli, served, ".").pop()
    Path(FILE).touch()
    assert "the file is empty" in errors(run_cli, served).pop()

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert "Permission denied" in errors(run_cli, served).pop()


def test_large_file_is_rejected(save: Run, run_cli: Run, served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert save("a")[0] == 0
    monkeypatch.setattr("kgroups.admin.snapshot.file.LARGEST", 100)
    assert "when decompressed" in errors(run_cli, served).pop()
    shutil.move(FILE, "old")
    code, _, err = save("a")
    assert code == 2 and "save fewer groups" in err and not Path(FILE).exists()
