"""``kgroups sandbox``, without a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.cli.main import main
from tests.unit.sandbox.test_state import STATE, write_state


@pytest.fixture(autouse=True)
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a sandbox named ux."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "kgroups/sandbox/ux"
    folder.mkdir(parents=True)
    write_state(folder, STATE)
    return folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["up", "--version", "9.9.9"], "does not support Kafka 9.9.9; choose from 1.1.1, "),
        (["up", "--name", "a/b"], "'a/b' is not a valid sandbox name"),
        (["up", "--user", "ann"], "--user requires --security"),
        (["up", "--security", "--user", "../ann"], "'../ann' is not a valid user name"),
        (["up", "--security", "--user", "operator"], "operator is a user of every secure sandbox"),
        (
            ["seed"],
            "there is no sandbox named default; running: ux\nkgroups: hint: start it with: kgroups sandbox up\n",
        ),
        (["env", "--name", "no"], "running: ux\nkgroups: hint: start it with: kgroups sandbox up --name no\n"),
        (["status", "--name", "no"], "there is no sandbox named no; running: ux\n"),
    ],
)
def test_usage_error_exits_with_2(arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", *arguments]) == 2
    assert message in capfd.readouterr().err


def test_down_of_missing_sandbox_does_not_advise_to_start_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "down"]) == 2
    assert capfd.readouterr().err == "kgroups: error: there is no sandbox named default; running: ux\n"


def test_env_prints_exports_for_another_shell(running: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = f"export KGROUPS_BOOTSTRAP_SERVER={STATE.bootstrap}\n"
    assert main(["sandbox", "env", "--name", "ux"]) == 0
    assert capfd.readouterr() == (server, "")
    realm = running / "kerberos/krb5.conf"
    realm.parent.mkdir()
    realm.touch()
    assert main(["sandbox", "env", "--name", "ux"]) == 0
    assert capfd.readouterr() == (f"export KRB5_CONFIG={realm}\n{server}", "")
