"""Readers of Java's file formats, compared with Java."""

from __future__ import annotations

from pathlib import Path

from kgroups.config.formats.jaas import _tokens
from kgroups.config.properties import read_properties
from kgroups.errors import ConfigError
from tests.unit.config.conftest import CASES, Keys


def _hex(text: str) -> str:
    return text.encode("utf-16-be").hex() + "."


def test_properties_files_are_read_like_java(keys: Keys) -> None:
    files = sorted(keys.folder.glob("*.properties"))
    assert len(files) == CASES
    errors = 0
    for file in files:
        try:
            read = {found.key: found.value for found in read_properties(file)}
            lines = "".join(f"{_hex(key)} {_hex(read[key])}\n" for key in sorted(read))
        except ConfigError:
            lines, errors = "ERROR", errors + 1
        assert lines == Path(f"{file}.read").read_text(), file.read_bytes()
    assert 0 < errors < 150


def test_jaas_lines_are_tokenized_like_java(keys: Keys) -> None:
    """Lines are valid for Java: paths and numbers are quoted."""
    files = sorted(keys.folder.glob("*.jaas"))
    assert len(files) == CASES
    for file in files:
        text = file.read_text(encoding="utf-8")
        theirs = Path(f"{file}.read").read_text().split("\n")[:-1]
        ours = [token.text if token.mark else f"s{_hex(token.text)}" for token in _tokens(text)]
        assert ours == theirs, text
