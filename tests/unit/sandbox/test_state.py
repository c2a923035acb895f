from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.errors import SandboxError, UsageError
from kgroups.sandbox import Sandbox
from kgroups.sandbox.state import Broker, Helper, State, read_state, write_state
from kgroups.sandbox.versions import kafka_version

STATE = State(
    name="a",
    version="2.8.2",
    java="java",
    jars="jars",
    cluster_id=None,
    bootstrap="127.0.0.1:1,127.0.0.1:2",
    brokers=(Broker(1, {"PLAINTEXT": 1, "SASL": 3}, pid=11), Broker(2, {"PLAINTEXT": 2, "SASL": 4})),
    zookeeper=5,
    zookeeper_pid=12,
    helpers=(Helper("seed", 13),),
    options=("-Dx=1",),
)


def test_state_round_trips(tmp_path: Path) -> None:
    write_state(tmp_path, STATE)
    assert read_state(tmp_path) == STATE
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_state_pids_are_those_started() -> None:
    assert STATE.pids == [11, 12, 13]
    assert STATE.with_pid(2, 14).pids == [11, 14, 12, 13]
    assert replace(STATE, zookeeper_pid=0).pids == [11, 13]


def test_state_that_was_not_written_is_none(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"brokers": [{"id": 1}], "helpers": []}'])
def test_state_that_is_damaged_is_an_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(SandboxError, match=r"state\.json is invalid"):
        read_state(tmp_path)


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "-rf", ".hidden", "x" * 65])
def test_sandbox_name_that_is_no_folder_name_is_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="is not a valid sandbox name"):
        Sandbox.load(name)


def test_sandbox_that_does_not_exist_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no sandbox named nobody; none is running") as raised:
        Sandbox.load("nobody")
    assert raised.value.hint == "start it with: kgroups sandbox up --name nobody"
    assert Sandbox.names() == []
    (folder := tmp_path / "kgroups/sandbox/ux").mkdir(parents=True)
    write_state(folder, STATE)
    with pytest.raises(UsageError, match="no sandbox named nobody; running: ux"):
        Sandbox.load("nobody")


def test_kafka_version_lists_group_types_and_rejects_others() -> None:
    assert kafka_version("4.3.1").group_types == ("classic", "consumer", "share", "streams")
    with pytest.raises(UsageError, match=r"the sandbox does not support Kafka 9\.9; choose from 1\.1\.1, "):
        kafka_version("9.9")


@pytest.mark.parametrize("count", [0, 4])
def test_broker_count_out_of_range_is_rejected(count: int) -> None:
    with pytest.raises(UsageError, match="1 to 3 brokers"):
        Sandbox.up(brokers=count)
