"""Secrets in the output and logs of whole commands; see tests/unit/config/test_secrets.py."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.config.test_secrets import MALFORMED, SECRET


def test_commands_print_and_log_no_secrets(
    tmp_path: Path, run_cli: Callable, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("PW", SECRET)
    for number, text in enumerate(MALFORMED.values()):
        file = tmp_path / f"{number}.properties"
        file.write_text(text)
        file.chmod(0o600)
        server = () if "bootstrap.servers" in text else ("-b", "127.0.0.1:1")
        more = ("--timeout", "500ms", "--debug")
        for words in (("config", "show"), ("list", *more)):
            _, out, err = run_cli(*words, "--command-config", str(file), *server)
            assert SECRET not in out + err + caplog.text, (text, out, err)
