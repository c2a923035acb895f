"""Which profiles a command with several clusters selects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.config.fleet import fleet_profiles
from kgroups.errors import ConfigError, UsageError

Select = Callable[..., tuple[str, ...]]
FILE = """
[sets]
prod = ["eu-*", "us-1", "!eu-canary"]
world = ["prod", "@asia"]
none = ["eu-1", "!eu-*"]
loop = ["eu-1", "ring"]
ring = ["loop"]
missing = ["nosuch"]

[profiles.eu-1]
bootstrap = "a:1"
tags = ["big"]
[profiles.eu-canary]
bootstrap = "b:1"
[profiles.us-1]
bootstrap = "c:1"
tags = ["big", "old"]
[profiles.jp-1]
bootstrap = "d:1"
tags = ["asia"]
"""


@pytest.fixture
def select(tmp_path: Path) -> Select:
    file = tmp_path / "config.toml"
    file.write_text(FILE)
    return lambda *names, everything=False: fleet_profiles(names, {"KGROUPS_CONFIG": str(file)}, everything=everything)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("eu-1", "us-1"), ("eu-1", "us-1")),
        (("us-1", "eu-1", "us-1"), ("us-1", "eu-1")),
        (("eu-*",), ("eu-1", "eu-canary")),
        (("prod",), ("eu-1", "us-1")),
        (("world",), ("eu-1", "us-1", "jp-1")),
        (("@big",), ("eu-1", "us-1")),
        (("@old", "jp-?"), ("us-1", "jp-1")),
        (("eu-1",), ()),
        (("nosuch",), ()),  # an error of the profile, as always
        ((), ()),
    ],
)
def test_profiles_are_selected_by_name_glob_set_and_tag(
    select: Select, names: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert select(*names) == expected


def test_all_profiles_are_in_the_order_of_the_file(select: Select) -> None:
    assert select(everything=True) == ("eu-1", "eu-canary", "us-1", "jp-1")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("x*",), "--profile: no profile matches 'x*'"),
        (("@x",), "--profile: no profile matches '@x'"),
        (("eu-1", "nosuch"), "--profile: no profile 'nosuch'"),
        (("none",), "line 5: set 'none' selects no profile"),
        (("loop",), "line 6: set 'loop' contains itself: loop -> ring -> loop"),
        (("missing",), "line 8: set 'missing': no profile 'nosuch'"),
    ],
)
def test_what_selects_nothing_is_named(select: Select, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError) as error:
        select(*names)
    assert message in str(error.value)


def test_all_profiles_can_be_combined_only_with_profiles_to_leave_out(select: Select) -> None:
    assert set(select(everything=True)) - set(select("!eu-1", everything=True)) == {"eu-1"}
    with pytest.raises(UsageError, match="only with profiles to leave out"):
        select("eu-1", everything=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sets = 3", "line 1: sets must be a table"),
        ("[sets]\na = 'eu'", "line 2: set 'a' must be a list of profiles"),
        ("[sets]\na = ['b']\n[profiles.a]\n", "line 2: set 'a' has the name of a profile"),
        ("[profiles.a]\ntags = 'big'\n", "profile a"),
    ],
)
def test_invalid_sets_and_tags_name_their_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        fleet_profiles(("@big",), {"KGROUPS_CONFIG": str(file)})
    assert message in str(error.value)
