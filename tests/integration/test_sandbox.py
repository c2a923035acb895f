"""The sandbox itself, with real brokers."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgroups.class_archive import ClassArchive
from kgroups.errors import SandboxError, UsageError
from kgroups.sandbox import Sandbox
from kgroups.sandbox.command import command
from kgroups.sandbox.jars import ensure_jars
from kgroups.sandbox.java import find_java
from kgroups.sandbox.probe import api_versions, why_not_ready
from kgroups.sandbox.process import state_of
from tests.integration.versions import MAIN

CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT = 68, 76, 88

NEWER_APIS = {
    "1.1.1": set(),
    "2.5.1": set(),
    "2.8.2": set(),
    "3.9.1": {CONSUMER_GROUP_HEARTBEAT},
    "4.3.1": {CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT},
    "4.4.0": {CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT},
}


def test_every_broker_runs_and_serves_groups(cluster: Sandbox) -> None:
    status = cluster.status()
    assert set(status.brokers.values()) == {"running"}
    assert status.zookeeper == ("running" if cluster.version.zookeeper else None)
    assert why_not_ready({broker.id: (broker.host, broker.port) for broker in cluster.brokers}) is None


def test_group_types_are_those_of_the_version(cluster: Sandbox) -> None:
    broker = cluster.brokers[0]
    spoken = api_versions(broker.host, broker.port)
    newer = {CONSUMER_GROUP_HEARTBEAT, SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT}
    assert newer & set(spoken) == NEWER_APIS[cluster.version.name]


def test_java_tool_runs(cluster: Sandbox) -> None:
    done = cluster.java_tool("--list")
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_up_with_a_used_name_is_refused(cluster: Sandbox) -> None:
    with pytest.raises(SandboxError, match=f"named {cluster.name} is already running.*{cluster.bootstrap}"):
        Sandbox.up(cluster.version.name, name=cluster.name)
    assert cluster.status().running


@pytest.fixture(scope="module")
def private_sandbox(
    require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """One that may be harmed, in a state folder of its own."""
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(
            MAIN, name="own", properties={"num.partitions": "7"}, listeners={"SECOND": "PLAINTEXT"}
        ) as sandbox:
            yield sandbox


def test_up_applies_listeners_and_properties(private_sandbox: Sandbox) -> None:
    host, port = private_sandbox.bootstrap_of("SECOND").split(":")
    assert int(port) != private_sandbox.brokers[0].port
    assert api_versions(host, int(port))
    assert "num.partitions=7\n" in (private_sandbox.folder / "broker-1" / "server.properties").read_text()


def test_pause_and_resume_a_broker(private_sandbox: Sandbox) -> None:
    private_sandbox.pause(1)
    assert private_sandbox.status().brokers == {1: "paused"}
    private_sandbox.resume(1)
    private_sandbox.wait_ready(timeout=60)
    assert private_sandbox.status().brokers == {1: "running"}


def test_kill_and_restart_keep_port_and_data(private_sandbox: Sandbox) -> None:
    before = private_sandbox.brokers[0]
    private_sandbox.kill(1)
    assert private_sandbox.status().brokers == {1: "gone"}
    private_sandbox.restart(1)
    assert private_sandbox.brokers[0].port == before.port
    assert private_sandbox.brokers[0].pid != before.pid
    assert private_sandbox.status().brokers == {1: "running"}


def test_programs_use_the_class_archive(private_sandbox: Sandbox) -> None:
    archive = ClassArchive(find_java(), ensure_jars(private_sandbox.version))
    with archive.file.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the process that makes it has ended
    java, *words = private_sandbox.java_command(private_sandbox.version.group_command, "--version")
    assert f"-XX:SharedArchiveFile={archive.file}" in words
    # Java fails if it cannot use the archive.
    shown = subprocess.run([java, "-Xshare:on", *words], capture_output=True, text=True, timeout=300, check=True)
    assert shown.stdout.split() == [private_sandbox.version.name]


def test_helper_must_name_the_sandbox_folder(private_sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="does not contain"):
        private_sandbox.start_helper("stranger", [sys.executable, "-c", "pass"])


def test_unknown_broker_is_an_error(private_sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="no broker 9"):
        private_sandbox.kill(9)


@pytest.fixture
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_stale_sandbox_is_shown_replaced_and_stopped(state_home: Path, require_kafka: Callable[[str], None]) -> None:
    require_kafka("4.3.1")
    first = Sandbox.up(MAIN, name="stale")
    pid = first.brokers[0].pid
    os.kill(pid, signal.SIGKILL)  # as when the machine was restarted
    while state_of(pid, f"{first.folder}/") != "gone":
        pass
    assert Sandbox.load("stale").status().brokers == {1: "gone"}

    second = Sandbox.up(MAIN, name="stale")
    assert second.bootstrap != first.bootstrap
    helper = second.start_helper("helper", [sys.executable, "-c", "import time; time.sleep(600)", f"{second.folder}/"])
    pids = [second.brokers[0].pid, helper]
    assert [state_of(pid, f"{second.folder}/") for pid in pids] == ["running", "running"]

    second.down()
    assert [state_of(pid, f"{second.folder}/") for pid in pids] == ["gone", "gone"]
    assert not second.folder.exists()
    second.down()  # twice is no error
    assert Sandbox.names() == []


def test_broker_that_rejects_its_settings_names_the_reason(
    state_home: Path, require_kafka: Callable[[str], None]
) -> None:
    require_kafka("1.1.1")
    with pytest.raises(SandboxError, match=r"num\.partitions") as raised:
        Sandbox.up("1.1.1", name="bad", properties={"num.partitions": "many"})
    assert "broker-1 of Kafka 1.1.1 ended while starting" in str(raised.value)
    assert not Sandbox.load("bad").status().running
    Sandbox.load("bad").down()


def test_sandbox_commands_start_show_and_stop(state_home: Path, require_kafka: Callable[[str], None]) -> None:
    require_kafka("2.5.1")
    runner = CliRunner()
    up = runner.invoke(command, ["up", "--name", "cli", "--version", "2.5.1"], catch_exceptions=False)
    address = Sandbox.load("cli").bootstrap
    assert up.stdout == f"export KGROUPS_BOOTSTRAP_SERVER={address}\n"
    assert f"Kafka 2.5.1 is up at {address}\n" in up.stderr
    assert up.stderr.endswith('To use it in other shells: eval "$(kgroups sandbox env --name cli)"\n')
    again = runner.invoke(command, ["env", "--name", "cli"], catch_exceptions=False)
    assert (again.stdout, again.stderr) == (up.stdout, "")

    shown = runner.invoke(command, ["status"], catch_exceptions=False).stdout
    assert f"cli: Kafka 2.5.1 at {address}" in shown
    assert "zookeeper" in shown

    down = runner.invoke(command, ["down", "--all"], catch_exceptions=False)
    assert (down.exit_code, down.stdout) == (0, "")
    assert runner.invoke(command, ["status"]).stdout == ""
    assert isinstance(runner.invoke(command, ["down", "--name", "cli"]).exception, UsageError)
