"""Java's properties files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.config.properties import read_properties
from kgroups.errors import ConfigError


def written(folder: Path, text: str) -> Path:
    path = folder / "client.properties"
    path.write_text(text, encoding="latin-1", newline="")
    return path


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("a=b", "a", "b"),
        ("  a : b ", "a", "b "),
        ("a b c", "a", "b c"),
        ("a==b", "a", "=b"),
        ("a", "a", ""),
        ("a=", "a", ""),
        ("# no\n! no\n\na=b", "a", "b"),
        ("a=b\\\n   c", "a", "bc"),
        ("a=b\\\\\nc=d", "a", "b\\"),
        ("a=b\\\r\n\tc", "a", "bc"),
        ("a\\:b\\==c", "a:b=", "c"),
        ("a\\ b=c", "a b", "c"),
        ("a=\\t\\n\\x\\\\", "a", "\t\nx\\"),
        ("a=\\u00e9\\u4E2D", "a", "é中"),
        ("a=é", "a", "é"),
        ("a=b\\", "a", "b"),
    ],
)
def test_properties_format_is_that_of_java(tmp_path: Path, text: str, key: str, value: str) -> None:
    assert next(read_properties(written(tmp_path, text)))[:2] == (key, value)


def test_properties_have_line_numbers(tmp_path: Path) -> None:
    found = read_properties(written(tmp_path, "a=\\\n b\r\n# x\rc=d\n"))
    assert [(item.key, item.value, item.line) for item in found] == [("a", "b", 1), ("c", "d", 4)]


@pytest.mark.parametrize("text", ["a=\\u00g0", "a=\\u1"])
def test_properties_with_invalid_escape_are_rejected(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, f"# x\n{text}")
    with pytest.raises(ConfigError, match=r"client.properties, line 2: a .u must be followed"):
        list(read_properties(path))


@pytest.mark.parametrize("name", ["nowhere", "no\0where", "."])
def test_properties_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        list(read_properties(tmp_path / name))


def test_properties_file_without_end_is_rejected() -> None:
    with pytest.raises(ConfigError, match="larger than"):
        list(read_properties(Path("/dev/zero")))
