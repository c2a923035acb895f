"""Whatever goes wrong, a drop-in names no option that its tool lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from kgroups.dropins import consumer_groups, groups, run, share_groups, streams_application_reset, streams_groups
from kgroups.dropins.command import OPTION, Tool
from tests.fakes.broker import FakeCluster
from tests.fakes.hung import HUNG_CLUSTERS
from tests.unit.conftest import Ran, Served
from tests.unit.dropins.test_changes import commits, shop

UNDO = {"schema": "kgroups/undo/v1", "items": [{"group": "idle", "topic": "orders", "partition": 0, "offset": 7}]}
PLAN = {"schema": "kgroups/plan/v1", "cluster_id": "fake-cluster", "topic_ids": {"orders": "B" * 22}}
OFFSET = {"group": "idle", "topic": "orders", "partition": 0, "offset": 7}
HEADER = {"schema": "kgroups/undo/v2", "cluster_id": "fake-cluster", "offsets": 1}
MOVED = {"group": "idle", "topic": "orders", "partition": 0, "old_offset": 7, "new_offset": 8}
FILES = {
    "undo.json": UNDO,
    "elsewhere.json": UNDO | {"cluster_id": "another", "bootstrap": "b:1"},
    "recreated.json": PLAN | {"items": [OFFSET]},
    "changed.json": PLAN | {"topic_ids": {}, "items": [OFFSET | {"old_offset": 31}]},
    "beyond.json": UNDO | {"cluster_id": "fake-cluster", "items": [OFFSET | {"offset": 7000}]},
    "absent.json": PLAN | {"topic_ids": {}, "items": [OFFSET | {"group": "absent"}]},
    "gone.json": PLAN | {"items": [OFFSET | {"topic": "gone"}]},
    "partition.json": PLAN | {"items": [OFFSET | {"partition": 9}]},
    "unknown-key.json": PLAN | {"items": [OFFSET | {"to": 9}]},
    "share.json": PLAN | {"items": [OFFSET | {"type": "Share"}]},
    "empty.json": PLAN | {"items": []},
    "schema.json": {"schema": "kgroups/plan/v9", "items": []},
}
TEXTS = {
    "moved.json": f"{json.dumps(HEADER)}\n{json.dumps(MOVED)}\n",
    "truncated.json": f"{json.dumps(HEADER)}\n",
    "settings.json": '{"schema": "kgroups/undo-settings/v1", "settings": 0}\n',
    "broken.json": "{\n",
    "columns.csv": "a,b\n",
    "group.csv": "orders,0,5\n",
    "quote.csv": 'orders,"0,5\n',
    "negative.csv": "idle,orders,0,-5\n",
    "twice.csv": "idle,orders,0,5\nidle,orders,0,6\n",
    "gone.csv": "idle,gone,0,5\n",
    "partition.csv": "idle,orders,9,5\n",
    "late.csv": "idle,orders,0,5000\n",
    "empty.csv": "",
    "latin.csv": "caf\udce9,0,5\n",
}

RESET = "--reset-offsets --dry-run --group idle"
FROM_FILES = [f"{RESET} {more} --from-file {name}" for name in (*FILES, *TEXTS, "absent") for more in ("", "--group x")]
WORDS = [
    *(f"{RESET} --to-earliest --{{topic}} {topic}" for topic in ("gone", "orders:9", "orders:0,0", "orders:x", "a/b")),
    *(f"{RESET} --all-{{topic}}s {target}" for target in ("--to-datetime x", "--by-duration x", "--shift-by 9x")),
    "--reset-offsets --dry-run --group busy --all-{topic}s --to-latest",
    "--reset-offsets --dry-run --group absent --all-{topic}s --to-latest",
    "--reset-offsets --execute --group idle --all-{topic}s --to-latest",
    "--delete-offsets --group idle --{topic} gone",
    "--delete-offsets --group absent --{topic} orders",
    "--delete-offsets --group busy --{topic} orders:0",
    "--delete --group busy --group absent",
    "--describe --group absent --group busy",
    "--describe --group=",
    "--describe --group idle --timeout 0",
    "--describe --group idle --timeout 1",
    "--list --command-config absent.properties",
    "--list --command-config bad.properties",
    "--list --command-config oauth.properties",
    "--list",
]


APPLICATION = [
    *(f"--application-id {name} {more}" for name in ("idle", "busy", "absent", "connect") for more in ("", "--force")),
    "--application-id=",
    "--application-id idle --internal-topics orders",
    "--application-id idle --config-file absent.properties",
    "--application-id idle --command-config bad.properties",
    *(
        f"--application-id idle --input-topics orders,gone {target}"
        for target in ("", "--to-datetime x", "--to-offset x")
    ),
    *(f"--application-id idle --input-topics orders --from-file {name}" for name in (*FILES, *TEXTS, "absent")),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(json.dumps(content))
    for name, text in TEXTS.items():
        Path(name).write_text(text, errors="surrogateescape")
    Path("bad.properties").write_text("security.protocol=NONE\nbootstrap.servers=x\nrequest.timeout.ms=soon\n")
    Path("oauth.properties").write_text("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-1\n")


def strange(tool: Tool, ran: Ran) -> set[str]:
    """The options in the messages that the usage of the tool lacks; the usage itself may follow a message."""
    usage = tool.usage()
    return {*OPTION.findall((ran.err + ran.out).replace(usage, ""))} - {*OPTION.findall(usage)}


@pytest.mark.parametrize(
    "tool",
    [consumer_groups, share_groups, streams_groups, groups, streams_application_reset],
    ids=lambda each: each.__name__,
)
@pytest.mark.parametrize("state", ["well", "forbidden", "absent"])
@pytest.mark.usefixtures("files")
def test_drop_in_names_only_options_of_its_tool(
    run_tool: Callable[..., Ran], serve: Callable[..., Served], tool: object, state: str
) -> None:
    served = serve(fill=shop)
    command = tool.TOOL  # type: ignore[attr-defined]
    topic = "input-topic" if tool is streams_groups else "topic"
    bootstrap = "127.0.0.1:1" if state == "absent" else served.bootstrap
    if state == "forbidden":
        for api in ("OffsetFetch", "OffsetCommit", "OffsetDelete", "DeleteGroups", "DescribeGroups", "FindCoordinator"):
            served.state.fail(api, "idle", ErrorCode.group_authorization_failed)
        served.state.fail("Metadata", "orders", ErrorCode.topic_authorization_failed)
    lines = [*WORDS, *FROM_FILES] if state == "well" else WORDS
    for line in APPLICATION if tool is streams_application_reset else lines:
        ran = run_tool(command, "--bootstrap-server", bootstrap, *line.format(topic=topic).split())
        assert not strange(command, ran), (line, ran)


@pytest.mark.parametrize("fill", HUNG_CLUSTERS)
@pytest.mark.parametrize("tool", [consumer_groups, groups], ids=lambda each: each.__name__)
def test_hung_broker_is_reported_with_options_of_the_tool(
    run_tool: Callable[..., Ran], serve_in_virtual_time: Callable, tool: object, fill: Callable[[FakeCluster], None]
) -> None:
    served = serve_in_virtual_time(brokers=3, fill=fill)
    command = tool.TOOL  # type: ignore[attr-defined]
    ran = run_tool(command, "--bootstrap-server", served.bootstrap, "--list")
    assert not strange(command, ran), ran


def test_expired_time_limit_of_kafka_groups_is_not_named_as_an_option(
    run_tool: Callable[..., Ran], serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(fill=shop)
    monkeypatch.setattr(run, "TIMEOUT_MS", 0.01)
    ran = run_tool(groups.TOOL, "--bootstrap-server", served.bootstrap, "--list")
    assert ran.code == 1 and "the time limit (1e-05 s) expired" in ran.err and not strange(groups.TOOL, ran)
    ran = run_tool(consumer_groups.TOOL, "--bootstrap-server", served.bootstrap, "--list")
    assert "--timeout (1e-05 s) expired" in ran.err


def test_file_of_kgroups_is_rejected_without_naming_its_options(
    run_tool: Callable[..., Ran], serve: Callable[..., Served], files: None
) -> None:
    served = serve(fill=shop)
    before = commits(served, "idle")
    for name, message in (
        ("elsewhere.json", "elsewhere.json belongs to cluster another (b:1), but this is cluster fake-cluster"),
        ("recreated.json", "the topic was deleted and recreated after recreated.json was written"),
        ("changed.json", "the committed offset has changed since: offset 31 in the plan, now offset 30"),
    ):
        words = ("--reset-offsets", "--execute", "--group", "idle", "--from-file", name)
        ran = run_tool(consumer_groups.TOOL, "--bootstrap-server", served.bootstrap, *words)
        assert ran.code == 1 and message in ran.err and "--accept" not in ran.err, ran
    assert commits(served, "idle") == before
