"""``kgroups explain`` over fake brokers: sentences, tables, JSON, and rejected options."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from tests.fakes.broker import FakeCluster, is_probe
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    """Two healthy groups, one whose member claims another member's partitions and has escapes in its name, one that is
    rebalancing, one that cannot be described."""
    fake.state.settings[""] = {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "5000"}
    fake.state.topic("__consumer_offsets", [0, 1])
    fake.state.topic("orders", [0, 1, 0, 1])
    first, second = FakeMember("m-1", {"orders": (0, 1)}, instance_id="one"), FakeMember("m-2", {"orders": (2, 3)})
    fake.state.group("well", 0, state="Stable", members=(first, second))
    fake.state.group("modern", 1, type="Consumer", state="Stable", protocol="uniform", members=(first, second))
    again = FakeMember("m-\x1b[31m3", {"orders": (3,)}, client_id="c\x1b[0m")
    fake.state.group("torn", 1, state="Stable", members=(first, second, again))
    fake.state.group("moving", 0, state="PreparingRebalance", protocol="", members=(FakeMember("m-9"),))
    garbled = FakeMember("m-1", {"orders": (0, 1, 2, 3)}, garbage=b"\xff\xfe\x00")
    fake.state.group("garbled", 0, state="Stable", members=(garbled,))
    fake.state.group("empty", 0)


@pytest.fixture
def explain(run_cli: Run, serve: Callable) -> Callable[..., tuple[int, str, str]]:
    served = serve(fill=shop)
    return lambda *words: run_cli("explain", "-b", served.bootstrap, *words)


def items(answer: tuple[int, str, str]) -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads(answer[1])
    assert document["schema"] == "kgroups/explain/v1"
    found: list[dict[str, Any]] = document["items"]
    return found


def rules(item: dict[str, Any]) -> set[str]:
    return {finding["rule"] for finding in item["findings"] if finding["severity"] != "info"}


def without_ports(text: str) -> str:
    return "\n".join(line.split("(127.0.0.1:")[0] if "127.0.0.1:" in line else line for line in text.splitlines())


def test_explain_sentences_match_golden(explain: Run, golden: Callable[[str, str], None]) -> None:
    code, out, err = explain("well", "modern", "torn", "moving", "empty")
    assert (code, err) == (0, "")
    golden("cli/explain.plain", without_ports(out) + "\n")


def test_explain_requests_committed_offsets_once(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    assert run_cli("explain", "-b", served.bootstrap, "well")[0] == 0
    assert len([request for request in served.fake.asked("OffsetFetch") if not is_probe(request)]) == 1


def test_explain_output_has_no_raw_control_characters(explain: Run) -> None:
    for output in ("plain", "table", "json"):
        assert "\x1b" not in explain("torn", "-o", output, "-v", "--what-if", "members=+1")[1]


def test_explain_json_has_rules_members_and_failures(explain: Run) -> None:
    code, out, _ = answer = explain("well", "torn", "nobody", "-o", "json")
    assert code == 1
    torn, well = items(answer)
    assert rules(torn) == {"claimed-twice", "would-move", "static-members"} and rules(well) == {"static-members"}
    assert {member["metadata_bytes"] for member in well["members"]} == {22}
    assert {limit["told"] for limit in well["limits"].values()} == {False}
    assert [failure["name"] for failure in json.loads(out)["failures"]] == ["nobody"]


def test_explain_undecodable_assignment_is_reported(explain: Run) -> None:
    (item,) = items(explain("garbled", "-o", "json"))
    assert item["members"][0]["assignment"]["reason"]
    code, _, err = explain("garbled", "--what-if", "members=+1")
    assert code == 1 and "--what-if cannot be computed: the assignment of member" in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "no groups selected"),
        (("--what-if", "members=+1", "--all-groups"), "--what-if requires exactly one group"),
        (("well", "modern", "--what-if", "members=+1"), "--what-if requires exactly one group"),
        (("well", "--what-if", "members=many"), "--what-if: invalid change 'members=many'"),
        (("well", "--what-if", "assignor=fair"), "--what-if: unknown assignor 'fair'"),
        (("well", "--what-if", "member=-x"), "--what-if: member=-x: the group has no such member"),
        (("well", "--what-if", "partitions=x:+1"), "--what-if: partitions=x:+1: no member subscribes"),
        (("modern", "--what-if", "assignor=roundrobin"), "--what-if: 'roundrobin' is not available in KIP-848 groups"),
        (("well", "--transport", "librdkafka"), "is not supported with --transport librdkafka"),
    ],
)
def test_explain_usage_errors_exit_2(explain: Run, words: tuple[str, ...], why: str) -> None:
    code, out, err = explain(*words)
    assert (code, out) == (2, "")
    assert why in err and err.count("\n") == 1


def test_explain_csv_output_is_rejected(explain: Run) -> None:
    code, _, err = explain("well", "-o", "csv")
    assert code == 2 and "'csv' is not one of" in err


def test_explain_what_if_of_rebalancing_group_is_a_failure(explain: Run) -> None:
    code, out, err = explain("moving", "--what-if", "members=+1")
    assert code == 1 and "a classic group, PreparingRebalance, 1 member\n" in out
    assert "group 'moving': --what-if cannot be computed: its state is PreparingRebalance" in err


def test_explain_what_if_without_partition_counts_is_a_failure(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("Metadata", "orders", ErrorCode.topic_authorization_failed)
    code, out, err = run_cli("explain", "-b", served.bootstrap, "well", "--what-if", "members=+1")
    assert code == 1 and "1 topic could not be described: orders" in out
    assert "TOPIC_AUTHORIZATION_FAILED" in err and "the number of partitions of topic 'orders' is unknown" in err


def test_explain_what_if_as_text_and_as_json(explain: Run, golden: Callable[[str, str], None]) -> None:
    (item,) = items(explain("well", "--what-if", "members=+2", "-o", "json"))
    assert (item["what_if"]["moved"], item["what_if"]["members"], item["what_if"]["stop_the_world"]) == (3, 4, True)
    out = explain("modern", "--what-if", "members=+2", "--what-if", "partitions=orders:+4")[1]
    golden("cli/explain-what-if.plain", out[out.index("with members") :])
