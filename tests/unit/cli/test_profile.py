"""``kgroups profile``, and settings from the command line to the broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.conftest import Ran, Served

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
    served.state.group("there", 0)
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
    hint = "to add one: kgroups profile add NAME -b HOST:PORT"
    note = f"kgroups: note: there are no profiles in {tmp_path}/kgroups/config.toml; {hint}\n"
    assert (answer.code, answer.err) == (0, note)
    answer = run_cli("profile", "show")
    assert (answer.code, answer.out) == (2, "")
    assert "names no default" in answer.err
    assert run_cli("list").code == 2


@pytest.fixture
def no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "kgroups" / "config.toml"
    monkeypatch.setenv("KGROUPS_CONFIG", str(file))
    return file


def test_profile_add_stores_the_options_and_the_command_uses_them(
    serve: Callable[..., Served], run_cli: Run, no_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(brokers=1)
    served.state.group("there", 0)
    secret = no_file.parent.parent / "secret"
    secret.write_text("hush")
    secret.chmod(0o600)
    options = ("-b", served.bootstrap, "--timeout", "1m", "--transport", "wire", "-X", "client.id=${env:ME}")
    answer = run_cli("profile", "add", "prod", "--default", *options, "-X", f"ssl.key.password=@{secret}")
    assert (answer.code, answer.err) == (0, f"profile prod is in {no_file}\n")
    assert "hush" not in no_file.read_text()
    assert f'"ssl.key.password" = "${{file:{secret}}}"' in no_file.read_text()
    monkeypatch.setenv("ME", "ann")
    assert run_cli("list").out == "there\n"
    assert 'timeout = "60s"' in no_file.read_text()
    assert run_cli("profile", "add", "prod", "-b", "a:1").code == 2


def test_profile_add_refuses_a_password_in_clear_text(run_cli: Run, no_file: Path) -> None:
    command = ("profile", "add", "prod", "-b", "a:1", "-X", "sasl.password=hush")
    answer = run_cli(*command)
    assert answer.code == 2
    assert "-X sasl.password: not stored: the value is a secret in clear text" in answer.err
    assert "${env:NAME}, ${file:PATH}, or ${keyring:SERVICE/USER}" in answer.err
    assert not no_file.exists()
    answer = run_cli(*command, "--allow-clear-text")
    assert answer.code == 0
    assert "kgroups: warning: profile prod: sasl.password is stored in CLEAR TEXT" in answer.err
    assert "hush" not in answer.err + answer.out
    assert no_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "options",
    [(), ("-b", "a:x"), ("--command-config", "absent"), ("-b", "a:1", "-X", "x"), ("-b", "a:1", "--profile", "x")],
)
def test_profile_add_without_a_valid_cluster_is_an_error(options: tuple[str, ...], run_cli: Run, no_file: Path) -> None:
    assert run_cli("profile", "add", "prod", *options).code == 2
    assert not no_file.exists()


def test_profile_remove_and_rename(profiles_file: Path, run_cli: Run) -> None:
    assert run_cli("profile", "rename", "one", "first").err == "profile one is now first\n"
    assert run_cli("list").out == "there\n"
    answer = run_cli("profile", "remove", "first")
    assert (answer.code, "there is no default profile now" in answer.err) == (0, True)
    assert profiles_file.read_text() == "".join(TEXT.splitlines(keepends=True)[-3:])
    assert run_cli("profile", "remove", "first").code == 2
    assert run_cli("profile", "rename", "first", "x").code == 2


def test_profile_import_names_passwords_in_clear_text(run_cli: Run, no_file: Path) -> None:
    sample = Path(__file__).parents[1] / "config" / "other_tools" / "kcl.toml"
    answer = run_cli("profile", "import", "kcl", str(sample))
    assert answer.code == 0
    assert [line for line in answer.err.splitlines() if "is in" in line and "warning" not in line] == [
        f"profile prod is in {no_file}",
        f"profile dev is in {no_file}",
    ]
    assert "kgroups: note: profile prod: not imported: timeout_ms\n" in answer.err
    assert "kgroups: note: not imported: current_profile\n" in answer.err
    assert "warning: profile prod: sasl.password is stored in CLEAR TEXT" in answer.err
    assert "hush" not in answer.err
    assert no_file.stat().st_mode & 0o777 == 0o600
    before = no_file.read_text()
    again = run_cli("profile", "import", "kcl", str(sample))
    assert (again.code, no_file.read_text()) == (2, before)
    assert "profile 'prod' already exists" in again.err
    assert run_cli("profile", "import", "kcl", str(sample), "--only", "x").code == 2
    assert run_cli("profile", "import", "kcl", str(sample.with_name("absent"))).code == 2


def test_profile_import_of_one_cluster(run_cli: Run, no_file: Path) -> None:
    sample = Path(__file__).parents[1] / "config" / "other_tools" / "kcl.toml"
    answer = run_cli("profile", "import", "kcl", str(sample), "--only", "dev")
    assert answer.err == f"profile dev is in {no_file}\nkgroups: note: not imported: current_profile\n"
    assert no_file.read_text() == '[profiles.dev]\nbootstrap = "localhost:9092"\n'
