"""A broker that hangs costs no other broker's rows, even where ``--timeout`` is shorter than ``--broker-timeout``."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.exporter.poller import Poller, Polling
from kgroups.model.offsets import Isolation
from tests.fakes.broker import FakeCluster
from tests.fakes.hung import ANSWERING, HUNG, HUNG_CLUSTERS, SILENT, TIMEOUT, hung, hung_after_the_list
from tests.unit.conftest import Ran

Run = Callable[..., Ran]

hung_clusters = pytest.mark.parametrize("fill", HUNG_CLUSTERS)


def blamed(failures: list[dict[str, Any]]) -> set[int | None]:
    return {failure["broker"] for failure in failures}


NAMED = ("describe", *ANSWERING, *SILENT)


@pytest.mark.parametrize(
    ("fill", "words"),
    [
        (hung, ("describe", "--all-groups")),
        (hung, ("describe", "--all-groups", "--members")),
        (hung, ("describe", "--all-groups", "--state")),
        (hung, ("describe", "--topic", "orders")),
        (hung, (*NAMED, "--regex", "nothing")),
        (hung, NAMED),
        (hung, ("lag",)),
        (hung, ("lag", "--by", "partition")),
        (hung_after_the_list, ("describe", "--all-groups")),
        (hung_after_the_list, ("describe", "--regex", "g.*")),
        (hung_after_the_list, NAMED),
        (hung_after_the_list, ("lag",)),
    ],
)
def test_hung_broker_keeps_rows_of_other_brokers(
    run_cli: Run, serve_in_virtual_time: Callable, fill: Callable[[FakeCluster], None], words: tuple[str, ...]
) -> None:
    served = serve_in_virtual_time(brokers=3, fill=fill)
    code, out, err = run_cli(*words, "-b", served.bootstrap, "-o", "json", "--timeout", f"{TIMEOUT}s")
    answer = json.loads(out)
    assert (code, "no group matches" in err) == (1, False)
    assert sorted({item["group"] for item in answer["items"]}) == ANSWERING
    assert blamed(answer["failures"]) == {HUNG}, answer["failures"]
    offsets = [item for item in answer["items"] if item.get("current_offset") is not None]
    for item in offsets:
        known = item["partition"] != HUNG
        assert item["lag"] == (100 - item["current_offset"] if known else None)
    assert len(offsets) == (3 * len(ANSWERING) if offsets else 0)


@hung_clusters
def test_check_hung_broker_keeps_results_of_other_brokers(
    run_cli: Run, serve_in_virtual_time: Callable, fill: Callable[[FakeCluster], None]
) -> None:
    served = serve_in_virtual_time(brokers=3, fill=fill)
    words = ("--all-groups", "--state", "stable,empty", "--max-lag", "50", "-o", "json")
    code, out, _ = run_cli("check", "-b", served.bootstrap, *words, "--timeout", f"{TIMEOUT}s")
    found = json.loads(out)["items"]
    assert code == 2
    assert {item["group"] for item in found if item["check"] == "state" and item["status"] == "OK"} == set(ANSWERING)
    assert [item for item in found if item["check"] == "answered"]


@hung_clusters
def test_watch_hung_broker_keeps_rows_of_other_brokers(
    run_cli: Run, serve_in_virtual_time: Callable, fill: Callable[[FakeCluster], None]
) -> None:
    served = serve_in_virtual_time(brokers=3, fill=fill)
    words = ("--count", "1", "--timeout", f"{TIMEOUT}s")
    code, out, _ = run_cli("watch", "-b", served.bootstrap, *words)
    tick = json.loads(out)
    assert code == 1
    assert [item["group"] for item in tick["items"]] == ANSWERING
    assert blamed(tick["failures"]) == {HUNG}


@hung_clusters
def test_exporter_hung_broker_keeps_other_groups(
    serve_in_virtual_time: Callable, fill: Callable[[FakeCluster], None]
) -> None:
    served = serve_in_virtual_time(brokers=3, fill=fill)
    settings = ClientSettings(parse_bootstrap(served.bootstrap), timeout=TIMEOUT)
    looks = Poller(
        ConnectionOptions(settings, False), Selection(everything=True), Isolation.READ_UNCOMMITTED, Polling()
    )
    with closing(looks):
        assert [each.name for each in looks.poll().groups if each.described] == ANSWERING


def test_explain_hung_broker_keeps_other_groups(run_cli: Run, serve_in_virtual_time: Callable) -> None:
    served = serve_in_virtual_time(brokers=3, fill=hung)
    words = ("explain", "--all-groups", "-o", "json", "--timeout", f"{TIMEOUT}s")
    code, out, err = run_cli(*words, "-b", served.bootstrap)
    assert (code, "no group matches" in err) == (1, False)
    assert [item["group"] for item in json.loads(out)["items"]] == ANSWERING


def test_unsent_request_blames_no_broker(run_cli: Run, serve_in_virtual_time: Callable) -> None:
    served = serve_in_virtual_time(brokers=3, fill=hung)
    code, _, err = run_cli("describe", "-b", served.bootstrap, "--all-groups", "--timeout", f"{TIMEOUT}s")
    assert code == 1
    assert f"no response to ApiVersions before --timeout ({TIMEOUT:g} s) expired" in err
    assert "broker 0" not in err and "broker 1" not in err
