"""Output over fake brokers: stdout, stderr, and the exit code for each flag."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode
from pytest_mock import MockerFixture

from kgroups.errors import UnsupportedMechanism, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.groups import ListedGroup
from kgroups.model.outcome import Outcome
from tests.fakes.broker import FakeCluster, raw, silence
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], start=5, end=100)
    member = FakeMember("m-1", {"orders": (0, 1)})
    commits = {("orders", 0): 90}
    fake.state.group("busy", 0, state="Stable", members=(member,), commits=commits)
    fake.state.group("idle", 1, commits={("orders", 0): 3, ("orders", 1): 101})


def test_list_in_a_pipe_prints_only_names(run_cli: Run, serve: Callable) -> None:
    assert run_cli("list", "-b", serve(fill=shop).bootstrap) == (0, "busy\nidle\n", "")


def test_list_with_columns_and_filters(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    words = ("--type", "--state", "--state", "STABLE,preparing-rebalance")
    code, out, _ = run_cli("list", "-b", served.bootstrap, *words)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [["GROUP", "TYPE", "STATE"], ["busy", "Classic", "Stable"]]


def test_list_with_filter_in_a_pipe_prints_only_names(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    words = ("list", "-b", served.bootstrap)
    assert run_cli(*words, "--state", "empty") == (0, "idle\n", "")
    assert run_cli(*words, "--type", "classic", "--state", "stable") == (0, "busy\n", "")


@pytest.mark.parametrize("version", ["4.3.1", "2.8.2", "2.5.1", "1.1.1"])
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--topic", "orders"], "busy\nidle\n"),
        (["b*", "--topic", "orders"], "busy\n"),
        (["*", "--state", "empty"], "idle\n"),
        (["?dle", "--state", "empty,stable", "--topic", "orders"], "idle\n"),
    ],
)
def test_list_asks_each_broker_for_its_groups_once(
    run_cli: Run, serve: Callable, version: str, words: list[str], expected: str
) -> None:
    served = serve(2, version, fill=shop)
    assert run_cli("list", "-b", served.bootstrap, *words) == (0, expected, "")
    for broker in served.fake.brokers.values():
        assert [request.api for request in broker.requests].count("ListGroups") == 1


def test_list_of_a_glob_and_a_type_names_old_brokers_and_groups(run_cli: Run, serve: Callable) -> None:
    served = serve(2, "2.8.2", fill=shop)
    code, out, err = run_cli("list", "-b", served.bootstrap, "b*", "--type", "classic")
    assert (code, out) == (1, "") and err.count("cannot filter by type") == 2 and err.count("\n") == 2
    code, out, err = run_cli("list", "-b", served.bootstrap, "bus*", "idle", "--type", "classic")
    assert code == 2 and "'idle' is selected by name" in err
    code, out, err = run_cli("list", "-b", serve(fill=shop).bootstrap, "[b]usy", "x*", "--type", "classic")
    assert (code, out) == (1, "busy\n") and "x*" in err


def test_list_on_a_terminal_shows_type_and_state(run_cli: Run, serve: Callable) -> None:
    code, out, err = run_cli("list", "-b", serve(fill=shop).bootstrap, "-o", "table")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["GROUP", "TYPE", "STATE"],
        ["busy", "Classic", "Stable"],
        ["idle", "Classic", "Empty"],
    ]


def test_describe_offsets_as_json_has_every_column(run_cli: Run, serve: Callable) -> None:
    code, out, err = run_cli("describe", "-b", serve(fill=shop).bootstrap, "--all-groups", "-o", "json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["schema"] == "kgroups/offsets/v1"
    assert answer["cluster_id"] == "fake-cluster"
    assert answer["failures"] == []
    lags = {(row["group"], row["partition"]): row["lag"] for row in answer["items"]}
    assert lags == {("busy", 0): 10, ("busy", 1): None, ("idle", 0): 97, ("idle", 1): -1}
    notes = {row["note"] for row in answer["items"] if row["group"] == "idle"}
    assert notes == {"data lost: 2 offsets deleted before they were read", "committed beyond the end of the log"}


def test_describe_missing_group_keeps_the_good_one(run_cli: Run, serve: Callable) -> None:
    code, out, err = run_cli("describe", "-b", serve(fill=shop).bootstrap, "idle", "--group", "nope", "--state")
    assert code == 1
    assert "idle" in out
    assert "'nope'" in err
    assert "GROUP_ID_NOT_FOUND" in err
    assert "group 'idle'" not in err


def test_describe_notes_named_group_without_members(run_cli: Run, serve: Callable) -> None:
    code, _, err = run_cli("describe", "-b", serve(fill=shop).bootstrap, "idle", "busy")
    assert (code, err) == (0, "kgroups: note: group 'idle' has no active members\n")


def test_describe_pattern_without_match_is_a_note(run_cli: Run, serve: Callable) -> None:
    for view in ("--offsets", "--members", "--state"):
        code, _, err = run_cli("describe", "-b", serve(fill=shop).bootstrap, "--regex", "us", view)
        assert (code, err) == (
            0,
            "kgroups: note: no group matches --regex 'us': the whole name must match; try --regex '.*us.*'\n",
        )


def test_describe_unauthorized_group_is_named_once(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("DescribeGroups", "busy", ErrorCode.group_authorization_failed)
    code, out, err = run_cli("describe", "-b", served.bootstrap, "--all-groups")
    assert code == 1
    assert "idle" in out
    (row,) = (line for line in out.splitlines() if line.startswith("busy"))
    assert row.endswith("not authorized: needs DESCRIBE on GROUP busy")
    assert err.count("group 'busy'") == 1
    assert "GROUP_AUTHORIZATION_FAILED" in err


def test_list_hung_broker_is_named_and_the_rest_is_printed(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.fake.brokers[1].fault("ListGroups", silence)
    code, out, err = run_cli("list", "-b", served.bootstrap, "--broker-timeout", "1500ms")
    assert (code, out) == (1, "busy\n")
    assert "broker 1" in err
    assert "1.5 s" in err


@pytest.mark.parametrize(
    ("bytes_", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "TLS"),
        (b"\x7f\xff\xff\xff", "does not speak Kafka's protocol"),
        (b"\xff\xff\xff\xff", "does not speak Kafka's protocol"),
    ],
)
def test_port_of_another_protocol_is_named(run_cli: Run, serve: Callable, bytes_: bytes, said: str) -> None:
    served = serve(brokers=1)
    served.fake.brokers[0].fault("*", raw(bytes_))
    code, out, err = run_cli("list", "-b", served.bootstrap, "--timeout", "10s")
    assert (code, out) == (1, "")
    error, *hints = err.splitlines()
    assert said in error
    assert all(hint.startswith("kgroups: hint: ") for hint in hints) and len(hints) <= 1


def test_debug_logs_each_request(run_cli: Run, serve: Callable) -> None:
    _, _, err = run_cli("list", "-b", serve(fill=shop).bootstrap, "--debug")
    lines = [line for line in err.splitlines() if " ListGroups " in line]
    assert len(lines) == 2
    for part in ("broker ", " v5 ", "keys=0", "sent=", "received=", "ms"):
        assert part in lines[0]


def test_control_characters_never_reach_the_terminal_raw(run_cli: Run, serve: Callable) -> None:
    served = serve(brokers=1)
    served.state.group("evil\x1b[2J", 0)
    for flags in (("list",), ("describe", "--all-groups"), ("describe", "evil\x1b[2J"), ("list", "-o", "csv")):
        code, out, err = run_cli(*flags, "-b", served.bootstrap)
        assert code == 0
        assert "\x1b" not in out + err


def test_list_on_old_brokers_notes_unknown_types(run_cli: Run, serve: Callable) -> None:
    served = serve(versions="1.1.1", fill=shop)
    code, out, err = run_cli("list", "-b", served.bootstrap, "--type", "--state")
    assert code == 0
    assert [line.split() for line in out.splitlines()[1:]] == [["busy", "-", "Stable"], ["idle", "-", "Empty"]]
    assert "TYPE is unknown" in err
    code, out, err = run_cli("list", "-b", served.bootstrap, "--type", "classic")
    assert code == 1
    assert "cannot filter by type" in err


@pytest.mark.parametrize("versions", ["1.1.1", "2.5.1", "2.8.2"])
def test_list_on_old_brokers_notes_only_what_is_shown(run_cli: Run, serve: Callable, versions: str) -> None:
    served = serve(versions=versions, fill=shop)
    names = ["group", "TYPE", "Protocol-Type", "protocol_type", "state", "coordinator"]
    for columns in ([*first, last] for first in ([], ["group"]) for last in names):
        for sort in (None, "group", "-type", "protocol_type"):
            sorted_by = ("--sort", sort) if sort else ()
            code, _, err = run_cli("list", "-b", served.bootstrap, "--columns", ",".join(columns), *sorted_by)
            assert (code, "TYPE is unknown" in err) == (0, "TYPE" in columns or sort == "-type"), (columns, sort)


@pytest.mark.parametrize("error", [UnsupportedVersion, UnsupportedMechanism])
def test_librdkafka_is_the_fallback_for_unsupported_clusters(
    run_cli: Run, mocker: MockerFixture, error: type[Exception]
) -> None:
    pytest.importorskip("confluent_kafka")
    listed = Outcome((ListedGroup("g", "consumer", Node(1, "h", 9)),))
    admin = mocker.AsyncMock(cluster_id="c")
    admin.list_selected.return_value = listed
    mocker.patch("kgroups.admin.wire.WireClient.connect", side_effect=error("too new a broker"))
    mocker.patch("kgroups.admin.rdkafka.client.LibrdkafkaClient.connect", return_value=admin)
    code, out, err = run_cli("list", "-b", "h:1")
    assert (code, out) == (0, "g\n")
    assert err == "kgroups: note: too new a broker; using librdkafka instead, with one group per request\n"
    admin.close.assert_awaited_once()


def test_disabled_tls_verification_is_noted(run_cli: Run) -> None:
    off = ("-X", "security.protocol=ssl", "-X", "enable.ssl.certificate.verification=false")
    code, out, err = run_cli("list", "-b", "127.0.0.1:1", *off, "--timeout", "2s")
    assert (code, out) == (1, "")
    note, error = err.splitlines()
    assert note.startswith("kgroups: note: enable.ssl.certificate.verification=false: brokers are not verified")
    assert "connection refused" in error


def test_describe_summary_has_one_line_per_group(run_cli: Run, serve: Callable) -> None:
    words = ("describe", "-b", serve(fill=shop).bootstrap, "--all-groups", "--summary")
    code, out, err = run_cli(*words, "--columns", "group,state,type,members,total_lag,known_lag")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["GROUP", "STATE", "TYPE", "#MEMBERS", "TOTAL-LAG", "KNOWN-LAG"],
        ["busy", "Stable", "Classic", "1", "-", "10"],
        ["idle", "Empty", "Classic", "0", "97", "97"],
    ]
    lags = json.loads(run_cli("lag", *words[1:3], "--all-groups", "-o", "json")[1])["items"]
    items = json.loads(run_cli(*words, "-o", "json")[1])["items"]
    assert {row["group"]: row["total_lag"] for row in items} == {row["group"]: row["total_lag"] for row in lags}


def test_describe_all_views_agrees_with_each_view(run_cli: Run, serve: Callable) -> None:
    words = ("describe", "-b", serve(fill=shop).bootstrap, "--all-groups")
    answer = json.loads(run_cli(*words, "--all-views", "-o", "json")[1])
    assert answer["schema"] == "kgroups/all-views/v1"
    for flag, key in (("--members", "members"), ("--offsets", "offsets"), ("--summary", "summary")):
        alone = json.loads(run_cli(*words, flag, "-o", "json")[1])["items"]
        assert [row for item in answer["items"] for row in item[key]] == [
            {name: row[name] for name in item_keys} for row in alone for item_keys in [answer["items"][0][key][0]]
        ]
    code, out, _ = run_cli(*words, "--all-views")
    blocks = [block.splitlines()[0].split()[:2] for block in out.split("\n\n")]
    assert (code, blocks) == (0, [["GROUP", "STATE"], ["GROUP", "CONSUMER-ID"], ["GROUP", "TOPIC"]])


def test_describe_all_views_as_csv_is_a_usage_error(run_cli: Run, serve: Callable) -> None:
    code, _, err = run_cli("describe", "-b", "127.0.0.1:1", "--all-groups", "--all-views", "-o", "csv")
    assert (code, "--all-views supports table, plain, json, and jsonl" in err) == (2, True)


def test_describe_on_a_terminal_has_a_header_per_group(run_cli: Run, serve: Callable) -> None:
    code, out, _ = run_cli("describe", "-b", serve(fill=shop).bootstrap, "--all-groups", "-o", "table")
    assert code == 0
    blocks = out.split("\n\n")
    assert [block.partition(":")[0] for block in blocks] == ["idle", "busy"]
    assert "idle: data lost, Empty, type Classic, 0 members, assignor range," in blocks[0]
    assert "total lag 97" in blocks[0] and "total lag -" in blocks[1]
    assert "GROUP " not in out


def test_describe_missing_broker_in_summary_exits_1(run_cli: Run, serve: Callable) -> None:
    code, out, err = run_cli("describe", "-b", serve(fill=shop).bootstrap, "idle", "nope", "--summary")
    assert (code, "idle" in out, "GROUP_ID_NOT_FOUND" in err) == (1, True, True)
