"""``kgroups profile``, and settings from the command line to the broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Ran, Served

TEXT = """\
default = "one"
[profiles.one]
bootstrap = "{servers}"
timeout = "20s"
[profiles.one.properties]
sasl.jaas.config = 'x.PlainLoginModule required username="u" password="hush";'
[profiles.two]
bootstrap = "127.0.0.1:1"
command-config = "two.properties"
"""

Run = Callable[..., Ran]


@pytest.fixture
def profiles_file(serve: Callable[..., Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Profile one leads to a cluster that answers."""
    served = serve(brokers=1)
    served.world.group("there", 0)
    file = tmp_path / "config.toml"
    file.write_text(TEXT.format(servers=served.bootstrap))
    file.chmod(0o600)
    monkeypatch.setenv("KGROUPS_CONFIG", str(file))
    return file


def test_profile_sets_the_cluster_of_a_command(profiles_file: Path, run_cli: Run) -> None:
    answer = run_cli("list")
    assert (answer.code, answer.out) == (0, "there\n")
    assert "ignored because security.protocol is PLAINTEXT" in answer.err
    assert run_cli("list", "--profile", "two").code == 2
    profiles_file.with_name("two.properties").write_text("client.id=x\n")
    assert run_cli("list", "--profile", "two", "--timeout", "2s").code == 1


def test_profile_list_shows_the_default(profiles_file: Path, run_cli: Run) -> None:
    answer = run_cli("profile", "list", "-o", "json")
    items = json.loads(answer.out)["items"]
    assert [(item["profile"], item["default"]) for item in items] == [("one", True), ("two", False)]
    assert items[1]["command_config"] == "two.properties"


def test_profile_show_has_origins_and_masks_secrets(
    profiles_file: Path, run_cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run_cli("profile", "show", "-o", "json")
    shown = {item["key"]: (item["value"], item["origin"]) for item in json.loads(answer.out)["items"]}
    assert shown["timeout"] == ("20s", f"profile one ({profiles_file}, line 4)")
    assert shown["sasl.jaas.config"] == ("****", f"profile one ({profiles_file}, line 6)")
    assert "hush" not in answer.out + answer.err
    assert str(profiles_file.with_name("two.properties")) in run_cli("profile", "show", "two").out
    monkeypatch.setenv("KGROUPS_PROFILE", "three")
    answer = run_cli("profile", "show")
    assert (answer.code, answer.out) == (2, "")
    assert "KGROUPS_PROFILE: no profile 'three'" in answer.err


def test_profile_use_changes_the_default(profiles_file: Path, run_cli: Run) -> None:
    assert run_cli("profile", "use", "two").err == "two is now the default profile\n"
    assert profiles_file.read_text().splitlines()[0] == 'default = "two"'
    assert run_cli("profile", "use", "three").code == 2


def test_profile_without_config_file_is_a_note_or_an_error(
    run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KGROUPS_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    answer = run_cli("profile", "list")
    assert (answer.code, answer.err) == (0, f"kgroups: note: there are no profiles in {tmp_path}/kgroups/config.toml\n")
    answer = run_cli("profile", "show")
    assert (answer.code, answer.out) == (2, "")
    assert "names no default" in answer.err
    assert run_cli("list").code == 2
