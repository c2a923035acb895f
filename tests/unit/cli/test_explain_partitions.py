"""``kgroups explain --partition`` and ``--lagging`` over fake brokers: text, JSON, failures, and rejected options."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.protocol.record_batch import Aborted
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember, subscription_bytes
from tests.fakes.offset_records import commit_key, commit_value
from tests.fakes.record_batches import TRANSACTIONAL, batch, marker

Run = Callable[..., tuple[int, str, str]]


def fill(fake: FakeCluster) -> None:
    """A topic with an unread record, one that is read, a partition with an open transaction, and one without
    a leader."""
    fake.state.topic("__consumer_offsets", [0], end=0)
    log = {0: [batch(90, [(90, 1_000)], key=b"\x1b[31mk", value=b"v" * 300)]}
    fake.state.topic("orders", [0, 0], logs=log)
    fake.state.topic("sales", [0], stable=80)
    fake.state.topic("lost", [-1])
    member = FakeMember("m-1", {"orders": (1,), "sales": (0,), "lost": (0,)})
    commits = {("orders", 0): 90, ("orders", 1): 100, ("sales", 0): 80, ("lost", 0): 7}
    fake.state.group("shop", 0, state="Stable", members=(member,), commits=commits)
    fake.state.group("idle", 0, commits={("orders", 0): 90})


@pytest.fixture
def explain(run_cli: Run, serve: Callable) -> Run:
    served = serve(fill=fill)
    return lambda *words: run_cli("explain", "-b", served.bootstrap, *words)


def verdicts(answer: tuple[int, str, str]) -> dict[tuple[str, str, int], Any]:
    document = json.loads(answer[1])
    assert document["schema"] == "kgroups/explain-partitions/v1"
    return {(item["group"], item["topic"], item["partition"]): item for item in document["items"]}


def test_partition_has_a_verdict_with_evidence_and_the_next_command(explain: Run) -> None:
    code, out, err = explain("idle", "--partition", "orders:0")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["idle: orders-0: PROBLEM: unassigned", "  the group has no members"]
    assert "  - log: offsets 0 to 100, lag 10" in lines
    assert lines[-1] == "  next: kgroups explain idle"
    assert "key" not in out


def test_record_is_shown_on_request_escaped_and_bounded(explain: Run) -> None:
    for output in ("plain", "table", "json"):
        code, out, _ = explain("idle", "--partition", "orders:0", "--show-record", "-o", output)
        assert code == 0 and "\x1b" not in out and "v" * 200 in out and "v" * 201 not in out
    assert "… and 100 more bytes" in explain("idle", "--partition", "orders:0", "--show-record")[1]


def test_lagging_selects_partitions_and_shows_problems_first(explain: Run) -> None:
    answer = explain("--all-groups", "--lagging", "-o", "json")
    found = verdicts(answer)
    assert {key: item["verdict"] for key, item in found.items()} == {
        ("idle", "orders", 0): "unassigned",
        ("idle", "orders", 1): "unassigned",  # without a committed offset
        ("shop", "lost", 0): "leaderless",
        ("shop", "orders", 0): "unassigned",
        ("shop", "sales", 0): "open-transaction",
    }
    assert answer[0] == 1, "the log offsets of a partition without a leader are unknown"
    text = explain("--all-groups", "--lagging")[1]
    assert text.index("leaderless") < text.index("unassigned") < text.index("open-transaction")
    assert verdicts(explain("--lagging", "-o", "json")) == found, "all groups are the default"


@pytest.mark.parametrize(
    "name", ["--all-groups", "-x", "*", "[ab]", "new\nline", "new\\nline", "\\n", "two words", "it's"]
)
def test_next_command_selects_the_group_whatever_its_name_is(run_cli: Run, serve: Callable, name: str) -> None:
    def fill_with_names(fake: FakeCluster) -> None:
        fill(fake)
        fake.state.group(name, 0, commits={("orders", 0): 90})

    served = serve(fill=fill_with_names)
    _, out, _ = run_cli("explain", "-b", served.bootstrap, "--group", name, "--partition", "orders:0")
    (suggested,) = [line.removeprefix("  next: kgroups ") for line in out.splitlines() if line.startswith("  next: ")]
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {suggested}"], capture_output=True, check=True)
    code, out, err = run_cli(*done.stdout.decode().split("\0")[:-1], "-b", served.bootstrap, "-o", "json")
    assert (code, err) == (0, "")
    assert [item["group"] for item in json.loads(out)["items"]] == [name]


def test_lagging_selects_partitions_without_a_commit_or_an_owner(run_cli: Run, serve: Callable) -> None:
    def add_partitions(fake: FakeCluster) -> None:
        fake.state.topic("__consumer_offsets", [0], end=0)
        fake.state.topic("grown", [0, 0, 0])
        fake.state.topic("untouched", [0])
        fake.state.topic("empty", [0], end=0)
        metadata = subscription_bytes(["grown", "untouched", "empty"])
        member = FakeMember("m-1", {"grown": (0,)}, metadata=metadata)
        fake.state.group("shop", 0, state="Stable", members=(member,), commits={("grown", 0): 100})

    served = serve(fill=add_partitions)
    code, _, err = answer = run_cli("explain", "-b", served.bootstrap, "shop", "--lagging", "-o", "json")
    assert (code, err) == (0, "")
    places = [("shop", "grown", 1), ("shop", "grown", 2), ("shop", "untouched", 0)]
    assert {place: item["verdict"] for place, item in verdicts(answer).items()} == dict.fromkeys(places, "unassigned")
    rows = json.loads(run_cli("lag", "-b", served.bootstrap, "shop", "--by", "partition", "-o", "json")[1])["items"]
    unknown = [(row["group"], row["topic"], row["partition"]) for row in rows if row["lag"] is None]
    assert [place for place in unknown if place[1] != "empty"] == places, "the same partitions as in lag"


@pytest.mark.parametrize(
    ("committed", "verdict"), [(3, "unknown"), (1, "unknown"), (2, "unknown"), (4, "no-unread-records")]
)
def test_aborted_records_are_unread_for_consumers_with_the_default_isolation(
    run_cli: Run, serve: Callable, committed: int, verdict: str
) -> None:
    def abort(fake: FakeCluster) -> None:
        log = [batch(0, [(0, 1)], attributes=TRANSACTIONAL, producer=7), marker(1, 7)]
        log += [batch(2, [(2, 1), (3, 1)], attributes=TRANSACTIONAL, producer=9), marker(4, 9)]
        fake.state.topic("__consumer_offsets", [0], end=0)
        fake.state.topic("t", [0], end=5, logs={0: log}, aborted=[Aborted(9, 2)])
        fake.state.group("g", 0, commits={("t", 0): committed})

    served = serve(fill=abort)
    code, _, err = answer = run_cli("explain", "-b", served.bootstrap, "g", "--lagging", "-o", "json")
    (item,) = verdicts(answer).values()
    assert (code, err, item["verdict"]) == (0, "", verdict)


def test_open_transaction_names_the_version_that_its_details_require(explain: Run) -> None:
    code, _, _ = answer = explain("shop", "--partition", "sales", "-o", "json")
    (item,) = verdicts(answer).values()
    assert item["verdict"] == "open-transaction" and item["facts"]["last_stable_offset"] == 80
    (missing,) = item["unavailable"]
    assert missing["part"] == "open_transaction" and "requires DescribeProducers (Kafka 2.8)" in missing["reason"]
    assert code == 1


def test_topic_without_partitions_selects_all(explain: Run) -> None:
    assert {partition for _, _, partition in verdicts(explain("shop", "--partition", "orders", "-o", "json"))} == {0, 1}


def test_partition_that_does_not_exist_is_named(explain: Run) -> None:
    code, out, err = explain("idle", "--partition", "orders:7")
    assert code == 1 and "orders-7" in err and "missing-partition" in out


def test_denied_read_is_a_verdict_with_the_acl(run_cli: Run, serve: Callable) -> None:
    def deny(fake: FakeCluster) -> None:
        fill(fake)
        fake.state.groups["idle"].members = (FakeMember("m-2", {"orders": (0,)}),)
        fake.state.groups["idle"].state = "Stable"
        fake.state.fail("Fetch", "orders-0", ErrorCode.topic_authorization_failed)

    served = serve(fill=deny)
    code, out, _ = answer = run_cli("explain", "-b", served.bootstrap, "idle", "--partition", "orders:0", "-o", "json")
    (item,) = verdicts(answer).values()
    assert code == 1 and item["verdict"] == "fetch-denied"
    assert json.loads(out)["missing_acls"] == [{"operation": "READ", "resource": "TOPIC", "name": "orders"}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--partition", "orders:0", "--lagging"), "mutually exclusive"),
        (("--partition", "orders:x"), "--partition: 'x' in 'orders:x' is not a partition number"),
        (("--partition", "orders:0", "--what-if", "members=+1"), "cannot be combined with --what-if or --deep"),
        (("--lagging", "--deep"), "cannot be combined with --what-if or --deep"),
        (("--show-record",), "--show-record requires --partition or --lagging"),
    ],
)
def test_invalid_combination_is_rejected(explain: Run, words: tuple[str, ...], message: str) -> None:
    code, _, err = explain("idle", *words)
    assert code == 2 and message in err


def test_share_groups_have_no_verdicts(run_cli: Run, serve: Callable) -> None:
    def fill_with_share_group(fake: FakeCluster) -> None:
        fill(fake)
        fake.state.group("shared", 0, type="Share", protocol_type="share")

    served = serve(fill=fill_with_share_group)
    code, out, err = run_cli("explain", "-b", served.bootstrap, "shared", "--partition", "orders:0")
    assert (code, out) == (1, "") and "group 'shared': share groups have no committed offsets" in err
    assert "1 share group not examined" in run_cli("explain", "-b", served.bootstrap, "--all-groups", "--lagging")[2]


@pytest.mark.parametrize(("topic_id", "verdict"), [(2, "unassigned"), (7, "recreated-topic")])
def test_topic_id_in_the_commit_record_proves_a_recreated_topic(
    run_cli: Run, serve: Callable, topic_id: int, verdict: str
) -> None:
    def commit(fake: FakeCluster) -> None:
        fill(fake)
        text = base64.urlsafe_b64encode(topic_id.to_bytes(16, "big")).decode().rstrip("=")
        key, value = commit_key("idle", "orders", 0), commit_value(offset=90, topicId=text)
        fake.state.topic(
            "__consumer_offsets", [0], end=1, times={0: 1_000}, logs={0: [batch(0, [(0, 1_000)], key=key, value=value)]}
        )

    served = serve(fill=commit)
    answer = run_cli("explain", "-b", served.bootstrap, "idle", "--partition", "orders:0", "-o", "json")
    (item,) = verdicts(answer).values()
    assert (answer[0], item["verdict"]) == (0, verdict)
