"""Group members of unusual size: a megabyte of metadata, a thousand members."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kgroups.render.jsonout import MAX_HEX_BYTES
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember, subscription_bytes

Run = Callable[..., tuple[int, str, str]]
MEGABYTE = 1 << 20
VIEWS = [("describe",), ("describe", "--members", "-v"), ("describe", "--members", "-w"), ("explain", "-v")]
MADE = {
    "user-data": subscription_bytes(["t"])[:-8] + MEGABYTE.to_bytes(4, "big") + b"\xfe" * MEGABYTE + b"\0\0\0\0",
    "garbage": b"\xfe" * MEGABYTE,
    "topics": b"\0\0" + (MEGABYTE // 10).to_bytes(4, "big") + b"\0\x08t-%06d" % 7 * (MEGABYTE // 10) + b"\xff" * 4,
}


@pytest.fixture
def run_on_members(run_cli: Run, serve: Callable) -> Callable[..., Callable[..., tuple[int, str, str]]]:
    def start(*members: FakeMember) -> Callable[..., tuple[int, str, str]]:
        def shop(fake: FakeCluster) -> None:
            fake.state.topic("__consumer_offsets", [0, 1])
            fake.state.topic("t", [0, 1] * 10)
            fake.state.group("large", 0, state="Stable", members=members)

        served = serve(fill=shop)
        served.state.settings["__consumer_offsets"] = {"max.message.bytes": "1048588"}
        return lambda *words: run_cli(words[0], "-b", served.bootstrap, "large", *words[1:])

    return start


@pytest.mark.parametrize("kind", MADE)
def test_member_with_a_megabyte_of_metadata_is_shown(run_on_members: Callable, kind: str) -> None:
    run = run_on_members(FakeMember("m", {"t": tuple(range(20))}, metadata=MADE[kind]))
    for words in VIEWS:
        code, out, _ = run(*words, "-o", "plain")
        # Nothing that was decoded is cut, so that the row is as long as it was; the header is as wide.
        assert (code, len(out) < (2 * MEGABYTE if kind == "topics" else 20_000)) == (0, True), words
    code, out, _ = run("describe", "--members", "-o", "json")
    (row,) = json.loads(out)["items"]
    assert (code, row["metadata_bytes"], row["partitions"]) == (0, len(MADE[kind]), 20)
    most = 2 * MEGABYTE if kind == "topics" else 3 * MAX_HEX_BYTES
    assert len(out) < most
    code, out, _ = run("explain", "-o", "json")
    assert code == 0 and len(out) < most
    (item,) = json.loads(out)["items"]
    assert "record-size" in {finding["rule"] for finding in item["findings"] if finding["severity"] == "problem"}


def test_group_with_a_thousand_members_is_shown(run_on_members: Callable) -> None:
    # Three megabytes of metadata in all, and more in the answer: one frame of the broker's.
    metadata = subscription_bytes(["t"]) + bytes(3_000)
    members = [FakeMember(f"m-{at:04}", {"t": (at,)} if at < 20 else {}, metadata=metadata) for at in range(1_000)]
    run = run_on_members(*members)
    for words in VIEWS:
        code, out, _ = run(*words, "-o", "plain")
        assert code == 0 and out.count("m-0999") == 1 and len(out) < 500_000, words
    (item,) = json.loads(run("explain", "-o", "json")[1])["items"]
    found = {finding["rule"]: finding for finding in item["findings"]}
    assert len(found["idle-members"]["subjects"]) == 980
    assert (
        "980 of 1,000 members have no partitions (m-0020, m-0021, m-0022, … and 977 more)"
        in found["idle-members"]["text"]
    )
    assert found["record-size"]["severity"] == "problem"
    code, out, _ = run("explain", "--what-if", "assignor=cooperative-sticky")
    assert code == 0 and "with assignor=cooperative-sticky (1,000 members, cooperative-sticky)" in out
