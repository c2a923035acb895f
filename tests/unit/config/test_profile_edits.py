"""Profiles added, removed, and renamed in a file with lines and comments of its user."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.config.profile_edits import add_profiles, clear_text_secrets, remove_profile, rename_profile
from kgroups.config.profiles import Profiles, read_profiles
from kgroups.errors import ConfigError, UsageError

TEXT = """\
# clusters of the team
default = "prod"  # the one

[profiles.prod]  # do not touch
bootstrap = "a:1"
# its settings
[profiles.prod.properties]
client.id = "x"
# until here

# for experiments
[profiles."d e v"]
bootstrap = "b:1"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(TEXT)
    path.chmod(0o640)
    return path


def profiles_of(file: Path) -> Profiles:
    return read_profiles({"KGROUPS_CONFIG": str(file)})


def test_added_profile_follows_the_other_lines(file: Path) -> None:
    add_profiles(profiles_of(file), {"new": {"bootstrap": "c:1", "properties": {"client.id": "y"}}})
    assert file.read_text() == TEXT + (
        '\n[profiles.new]\nbootstrap = "c:1"\n[profiles.new.properties]\n"client.id" = "y"\n'
    )
    assert file.stat().st_mode & 0o777 == 0o640
    assert profiles_of(file).profile("new", "test").settings[1].value == "y"


def test_profile_with_a_secret_makes_the_file_private(file: Path) -> None:
    add_profiles(profiles_of(file), {"new": {"bootstrap": "c:1", "properties": {"sasl.password": "hush"}}})
    assert file.stat().st_mode & 0o777 == 0o600


def test_first_profile_makes_file_and_folder_private(tmp_path: Path) -> None:
    path = tmp_path / "a" / "config.toml"
    add_profiles(Profiles(path), {"new": {"bootstrap": "c:1"}}, default="new")
    assert path.read_text() == 'default = "new"\n[profiles.new]\nbootstrap = "c:1"\n'
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_removed_default_profile_leaves_other_lines(file: Path) -> None:
    remove_profile(profiles_of(file), "prod")
    assert file.read_text() == ('# clusters of the team\n\n# for experiments\n[profiles."d e v"]\nbootstrap = "b:1"\n')
    remove_profile(profiles_of(file), "d e v")
    assert file.read_text() == "# clusters of the team\n\n# for experiments\n"
    assert profiles_of(file).tables == {}


def test_renamed_profile_keeps_its_lines_and_stays_the_default(file: Path) -> None:
    rename_profile(profiles_of(file), "prod", "p r")
    assert file.read_text() == TEXT.replace('"prod"', '"p r"').replace("profiles.prod", 'profiles."p r"')
    rename_profile(profiles_of(file), "d e v", "dev")
    assert "[profiles.dev]" in file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        'profiles.a.bootstrap = "b:1"\n',
        'profiles = {a = {bootstrap = "b:1"}}\n',
        '[profiles]\na = {bootstrap = "b:1"}\n',
        '[profiles.a]\nbootstrap = """\n[profiles.a]\n"""\n[profiles.b]\nbootstrap = """\n[profiles.a]\nx"""\n',
    ],
)
def test_file_that_cannot_be_edited_safely_is_not_changed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    profiles = profiles_of(path)
    for edit in (lambda: remove_profile(profiles, "a"), lambda: rename_profile(profiles, "a", "z")):
        with pytest.raises(ConfigError, match="cannot edit this file safely"):
            edit()
    assert path.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


def test_names_in_use_and_empty_names_are_refused(file: Path) -> None:
    for edit in (
        lambda: add_profiles(profiles_of(file), {"x": {"bootstrap": "a:1"}, "prod": {"bootstrap": "a:1"}}),
        lambda: rename_profile(profiles_of(file), "d e v", "prod"),
        lambda: rename_profile(profiles_of(file), "d e v", " "),
    ):
        with pytest.raises(UsageError):
            edit()
    assert file.read_text() == TEXT


def test_invalid_profile_is_not_written(file: Path) -> None:
    with pytest.raises(ConfigError, match="transport"):
        add_profiles(profiles_of(file), {"new": {"bootstrap": "a:1", "transport": "pigeon"}})
    with pytest.raises(UsageError, match="UTF-8"):
        add_profiles(profiles_of(file), {"new": {"bootstrap": "a:1", "client-id": "\udcff"}})
    assert file.read_text() == TEXT


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), st.sampled_from(["\n", "\r\n"]))
def test_any_name_can_be_added_renamed_and_removed(
    tmp_path_factory: pytest.TempPathFactory, name: str, end: str
) -> None:
    path = tmp_path_factory.mktemp("names") / "config.toml"
    before = f"# first{end}[profiles.a-b]{end}bootstrap = 'b:1'{end}"
    path.write_bytes(before.encode())

    def tables() -> object:
        return tomllib.loads(path.read_bytes().decode())["profiles"]

    def read() -> Profiles:
        text = path.read_bytes().decode()
        return Profiles(path, text, None, tomllib.loads(text)["profiles"])

    if name == "a-b":
        return
    add_profiles(read(), {name: {"bootstrap": "c:1"}})
    assert tables() == {"a-b": {"bootstrap": "b:1"}, name: {"bootstrap": "c:1"}}
    rename_profile(read(), "a-b", f"{name}2")
    remove_profile(read(), f"{name}2")
    assert tables() == {name: {"bootstrap": "c:1"}}
    remove_profile(read(), name)
    assert path.read_bytes().decode().startswith(f"# first{end}")


@pytest.mark.parametrize(
    ("key", "value", "clear"),
    [
        ("sasl.password", "hush", True),
        ("sasl.password", "hush${env:A}", True),
        ("sasl.password", "${env:A}", False),
        ("sasl.password", "", False),
        ("client.id", "hush", False),
        ("sasl.jaas.config", 'x required username="${env:U}" password="hush";', True),
        ("sasl.jaas.config", "x required username='u' password='${keyring:k/u}';", False),
        ("sasl.jaas.config", "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true;", False),
    ],
)
def test_clear_text_secrets_are_found(key: str, value: str, clear: bool) -> None:
    assert clear_text_secrets({"bootstrap": "a:1", "properties": {key: value}}) == ([key] if clear else [])
