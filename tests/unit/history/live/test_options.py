"""Options of the live source."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.errors import UsageError
from kgroups.history.live.options import OPTIONS, LiveOptions, parse_options
from kgroups.history.live.tables import GROUPS, OFFSETS
from kgroups.history.options import Options
from kgroups.model.offsets import Isolation


def parsed(**options: str) -> LiveOptions:
    return parse_options(Options("kgroups-live", {"bootstrap.servers": "secret-host:9092", **options}, OPTIONS))


def test_live_options_have_defaults() -> None:
    found = parsed()
    assert found.settings.bootstrap == (("secret-host", 9092),)
    assert (found.settings.timeout, found.settings.broker_timeout) == (30, 10)
    assert found[1:] == (OFFSETS, Isolation.READ_UNCOMMITTED, True, None, (), None)


def test_live_options_are_all_parsed() -> None:
    found = parsed(
        **{"table": "groups", "timeout": "2.5", "broker.timeout": "1", "isolation": "read_committed"},
        failOnError="FALSE",
        pushdown="false",
        groups="a, b,a",
    )
    assert (found.settings.timeout, found.settings.broker_timeout) == (2.5, 1)
    assert found[1:] == (GROUPS, Isolation.READ_COMMITTED, False, ("a", "b"), (), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bootstrap.servers", ""),
        ("bootstrap.servers", "host:none"),
        ("table", "records"),
        ("timeout", "0"),
        ("timeout", "-1"),
        ("timeout", "nan"),
        ("timeout", "inf"),
        ("broker.timeout", "soon"),
        ("broker.timeout", ""),
        ("isolation", "serializable"),
        ("failOnError", "maybe"),
        ("pushdown", "1"),
    ],
)
def test_live_options_that_are_invalid_are_named(name: str, value: str) -> None:
    named = rf"option {name}: '{value}' (is not|must be) "
    with pytest.raises(UsageError, match=r"bootstrap.server" if "boot" in name else named):
        parsed(**{name: value})


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = "".join(f'[profiles.{name}]\nbootstrap = "{name}:1"\n' for name in ("eu-1", "eu-2", "us-1"))
    (tmp_path / "config.toml").write_text(f'{tables}tags = ["far"]\n[sets]\nall = ["*"]\n')
    monkeypatch.setenv("KGROUPS_CONFIG", str(tmp_path / "config.toml"))


def of_profiles(words: str, **options: str) -> LiveOptions:
    return parse_options(Options("kgroups-live", {"profile": words, **options}, OPTIONS))


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    ("words", "selected"),
    [
        ("us-1", ("us-1",)),
        ("eu-2, @far", ("eu-2", "us-1")),
        ("all,!eu-1", ("eu-2", "us-1")),
        ('["eu-*"]', ("eu-1", "eu-2")),
    ],
)
def test_live_profiles_are_selected_as_by_the_commands(words: str, selected: tuple[str, ...]) -> None:
    found = of_profiles(words, table="groups", timeout="5")
    assert (found.profiles, found.settings.bootstrap, found.settings.timeout) == (selected, (), 5)
    assert found.table.names == ["cluster", "cluster_id", *GROUPS.names]


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    ("words", "options", "expected"),
    [
        ("eu-3", {}, r"kgroups-live: option profile: no profile 'eu-3' in .*; profiles: eu-1, eu-2, us-1"),
        ("asia-*", {}, r"kgroups-live: option profile: no profile matches 'asia-\*' in .*; profiles: eu-1, "),
        ("!eu-1", {}, "kgroups-live: option profile selects no profile"),
        ("", {}, "option profile: '' must be NAME,NAME"),
        ("eu-1", {"bootstrap.servers": "h:1"}, "'eu-1' and bootstrap.servers are mutually exclusive; remove one"),
        ("eu-1", {"command.config": "file"}, "'eu-1' and command.config are mutually exclusive; remove one"),
    ],
)
def test_live_profiles_that_are_invalid_are_named(words: str, options: dict[str, str], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        of_profiles(words, **options)


def test_live_options_repr_hides_settings() -> None:
    assert repr(parsed()) == "LiveOptions(offsets)"
