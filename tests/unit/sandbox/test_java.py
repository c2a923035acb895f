from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox.java import find_java, need_compiler


@pytest.mark.parametrize("shown", ["17.0.15", "21", "25-ea"])
def test_find_java_accepts_new_versions(shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_java_showing(f'openjdk version "{shown}" 2025-04-15', tmp_path, monkeypatch) == f"{tmp_path}/bin/java"


@pytest.mark.parametrize(("shown", "major"), [("1.8.0_412", 8), ("11.0.2", 11)])
def test_find_java_too_old_names_the_fix(
    shown: str, major: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SandboxError, match=f"is Java {major}; the sandbox requires 17 or newer: install .*JAVA_HOME"):
        find_java_showing(f'java version "{shown}"', tmp_path, monkeypatch)


def test_find_java_without_version_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxError, match="does not report its version"):
        find_java_showing("coffee", tmp_path, monkeypatch)


def test_find_java_with_invalid_java_home_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SandboxError, match="does not run"):
        find_java()


def test_find_java_without_java_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="no java on PATH: install"):
        find_java()


@pytest.mark.parametrize("has", [True, False])
def test_need_compiler_requires_a_jdk(has: bool, tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho java.base@17\necho jdk.{'compiler' if has else 'jfr'}@17\n")
    java.chmod(0o755)
    if has:
        need_compiler(str(java))
    else:
        with pytest.raises(SandboxError, match=r"has no compiler: .* requires a JDK, 17 or newer"):
            need_compiler(str(java))


def find_java_showing(text: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    java = home / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    return find_java()
