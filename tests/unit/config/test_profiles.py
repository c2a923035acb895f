"""The profiles file: read, and its default changed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.profile_edits import set_default, with_default
from kgroups.config.profiles import config_file, read_profiles
from kgroups.config.secret import Secret
from kgroups.config.security import Password, Sasl, Security
from kgroups.errors import ConfigError, UsageError
from kgroups.model.duration import parse_seconds

TEXT = """\
# clusters
default = "prod"  # the one

[profiles.prod]
bootstrap = ["a:1", "b:2"]
transport = "librdkafka"
client-id = "me"

[profiles.prod.properties]
security.protocol = "SASL_PLAINTEXT"
sasl.mechanism = "PLAIN"
sasl.username = "u"
"sasl.password" = "hush"
"""


def written(folder: Path, text: str) -> dict[str, str]:
    file = folder / "config.toml"
    file.write_text(text)
    file.chmod(0o600)
    return {"KGROUPS_CONFIG": str(file)}


def test_profile_sets_servers_transport_and_security(tmp_path: Path) -> None:
    loaded = load_settings(Flags(), written(tmp_path, TEXT))
    settings = loaded.settings
    assert (settings.bootstrap_servers, settings.transport, settings.client_id) == ("a:1,b:2", "librdkafka", "me")
    assert settings.security == Security(None, Sasl("PLAIN", Password("u", Secret("hush"))))
    assert ["unencrypted" in remark for remark in loaded.warnings] == [True]
    place = f"profile prod ({tmp_path}/config.toml, line"
    answer = {each.key: (each.value, each.origin) for each in loaded.understood}
    assert answer["bootstrap"] == ("a:1,b:2", f"{place} 5)")
    assert answer["sasl.password"] == ("****", f"{place} 13)")
    (tmp_path / "config.toml").chmod(0o644)
    (_, remark) = load_settings(Flags(), {"KGROUPS_CONFIG": str(tmp_path / "config.toml")}).warnings
    assert remark.endswith(f"chmod 600 {tmp_path}/config.toml")


def test_config_file_follows_xdg_config_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_file({}) == tmp_path / "kgroups" / "config.toml"
    assert read_profiles({}).tables == {}
    with pytest.raises(UsageError, match=rf"--profile: no profile 'x' in {tmp_path}.*; profiles: none"):
        load_settings(Flags(profile="x"), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb =\n", "line 2: Invalid value"),
        ("profiles = 1", "line 1: profiles must be tables"),
        ("\ndefault = 1", "line 2: default must be a profile's name"),
        ('default = "x"', "no profile 'x'"),
        ('default = "p"\n[profiles.p]\ntimeout = "soon"', "line 3): timeout must be a positive duration"),
        ('default = "p"\n[profiles.p]\nbootstrap = {a = 1}', "line 3): bootstrap must be a string or a number"),
        (
            'default = "p"\n[profiles.p]\ntransport = "http"',
            "line 3): transport is not a known value; use one of wire, librdkafka",
        ),
        ('default = "p"\n[profiles.p]\nproperties = 1', "line 3): properties must be a table"),
        ('default = "p"\n[profiles.p]\nbootstrap = "h:x"', "line 3): bootstrap: the port of host 'h' is not a number"),
        ('default = "p"\n[profiles.p]\nbootstrap = "h:1"\ncommand-config = "none"', "none: No such file"),
        (TEXT.replace('"PLAIN"', '"NTLM"'), "line 11): sasl.mechanism is 'NTLM'"),
        (TEXT.replace('"SASL_PLAINTEXT"', '"SASL"'), "line 10): security.protocol is 'SASL'"),
    ],
)
def test_invalid_profiles_are_reported_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((ConfigError, UsageError)) as caught:
        load_settings(Flags(), written(tmp_path, text))
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "hush" not in str(caught.value)


def test_unknown_profile_keys_are_remarked_on(tmp_path: Path) -> None:
    environ = written(tmp_path, 'default = "p"\n[profiles.p]\nbootstrap = "h:1"\ncolour = "red"\nbrokers = 3\n')
    (remark,) = load_settings(Flags(), environ).warnings
    assert "line 2): unknown and ignored: a key (line 4), a key (line 5); known keys: bootstrap" in remark


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('default = "a" # x\n[profiles.b]\n', 'default = "b" # x\n[profiles.b]\n'),
        ("# x\n  'default'='a'\r\n[profiles.b]\r\n", "# x\n  'default'=\"b\"\r\n[profiles.b]\r\n"),
        ("# x\n[profiles.b]\n", 'default = "b"\n# x\n[profiles.b]\n'),
        ('[profiles.b]\ndefault = "a"\n', 'default = "b"\n[profiles.b]\ndefault = "a"\n'),
        ('note = """\ndefault = "a"\n"""\n[profiles.b]\n', None),
        ('default = """a"""\n[profiles.b]\n', None),
    ],
)
def test_with_default_changes_one_line(before: str, after: str | None) -> None:
    assert with_default(before, "b") == after


@pytest.mark.parametrize("name", ['q"uote', "back\\slash", "ünï", "\x7f", "a b"])
def test_with_default_quotes_any_name(name: str) -> None:
    text = with_default(TEXT, name)
    assert text is not None
    assert tomllib.loads(text) == {**tomllib.loads(TEXT), "default": name}
    assert text.count("# the one") == 1


def test_set_default_keeps_mode_and_symlink(tmp_path: Path) -> None:
    environ = written(tmp_path, TEXT + "[profiles.dev]\n")
    link = tmp_path / "link.toml"
    link.symlink_to(tmp_path / "config.toml")
    set_default(read_profiles({"KGROUPS_CONFIG": str(link)}), "dev")
    assert link.is_symlink()
    assert read_profiles(environ).default == "dev"
    assert (tmp_path / "config.toml").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "link.toml"]


@pytest.mark.parametrize("text", ["1d", "500ms", "1.5h", "2w", "30"])
def test_profile_timeout_is_read_like_the_option(tmp_path: Path, text: str) -> None:
    environ = written(tmp_path, f'[profiles.p]\nbootstrap = "h:1"\ntimeout = "{text}"')
    assert load_settings(Flags(profile="p"), environ).settings.timeout == parse_seconds(text)


@pytest.mark.parametrize("text", ['"0s"', '"1y"', "0", "-1", "true", '"0.1ms"', f'"{"9" * 400}"', "inf", "nan"])
def test_profile_timeout_that_is_invalid_is_an_error(tmp_path: Path, text: str) -> None:
    environ = written(tmp_path, f'[profiles.p]\nbootstrap = "h:1"\ntimeout = {text}')
    with pytest.raises(ConfigError, match="timeout must be a positive duration"):
        load_settings(Flags(profile="p"), environ)
