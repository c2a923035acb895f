"""Java's properties files, and which of their settings are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.config.properties import apply_properties, read_properties
from kgroups.config.settings import ClientSettings
from kgroups.errors import ConfigError

SETTINGS = ClientSettings((("h", 1),), timeout=30.0, broker_timeout=10.0)


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
def test_the_format(tmp_path: Path, text: str, key: str, value: str) -> None:
    assert next(read_properties(written(tmp_path, text)))[:2] == (key, value)


def test_lines_are_told(tmp_path: Path) -> None:
    found = read_properties(written(tmp_path, "a=\\\n b\r\n# x\rc=d\n"))
    assert [(item.key, item.value, item.line) for item in found] == [("a", "b", 1), ("c", "d", 4)]


def test_what_is_followed(tmp_path: Path) -> None:
    text = "client.id=me\nrequest.timeout.ms=2500\nsecurity.protocol=PLAINTEXT\nbootstrap.servers=elsewhere:1\n"
    settings, remarks = apply_properties(SETTINGS, written(tmp_path, text))
    assert settings == SETTINGS._replace(client_id="me", broker_timeout=2.5)
    assert remarks == ()


def test_the_last_of_two_counts(tmp_path: Path) -> None:
    settings, _ = apply_properties(SETTINGS, written(tmp_path, "client.id=a\nclient.id=b\n"))
    assert settings.client_id == "b"


def test_what_is_not_understood_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "\nretries=5\n")
    settings, remarks = apply_properties(SETTINGS, path)
    assert settings == SETTINGS
    assert remarks == (f"{path}, line 2: 'retries' is not understood, and ignored",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("security.protocol=SASL_SSL", "line 1: security.protocol=SASL_SSL: only PLAINTEXT"),
        ("request.timeout.ms=soon", "line 1: request.timeout.ms is 'soon'"),
        ("request.timeout.ms=0", "milliseconds above zero"),
        ("a=\\u00g0", "line 1: a \\u must be followed"),
        ("a=\\u1", "line 1: a \\u must be followed"),
    ],
)
def test_what_cannot_be(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        apply_properties(SETTINGS, path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*: No such file"):
        apply_properties(SETTINGS, tmp_path / "nowhere")
