"""Java source files: compiled once, and again when the source or the jars change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox.compiler import compile_source
from kgroups.sandbox.java import need_compiler
from kgroups.sandbox.programs import Programs

# A java whose compiler writes one class, and counts its runs; it reports an error in sources that contain "wrong".
JAVA = """#!/bin/sh
case $1 in --list-modules) echo jdk.compiler@17; exit;; esac
echo run >> "$0.runs"
while [ $# -gt 1 ]; do case $1 in -d) classes=$2;; esac; shift; done
if grep -q wrong "$1"; then echo "$1:1: error"; exit 1; fi
mkdir -p "$classes" && cp "$1" "$classes/Hello.class"
"""


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(JAVA)
    java.chmod(0o755)
    need_compiler.cache_clear()
    return java


@pytest.fixture
def source(tmp_path: Path) -> Path:
    source = tmp_path / "Hello.java"
    source.write_text("right")
    return source


def runs(java: Path) -> int:
    return len(java.with_name("java.runs").read_text().splitlines())


def test_source_is_compiled_once(java: Path, jars: Path, source: Path) -> None:
    folder = compile_source(str(java), source, [jars])
    assert compile_source(str(java), source, [jars]) == folder
    assert runs(java) == 1
    assert [path.name for path in folder.iterdir()] == ["program.jar"]
    command = Programs(source.parent, str(java), jars).tool(source, ["word"])
    assert command[-4:] == ["-cp", f"{jars}/*:{folder}/*", "Hello", "word"]
    assert runs(java) == 1


def test_changed_source_or_jars_are_compiled_again(java: Path, jars: Path, source: Path) -> None:
    first = compile_source(str(java), source, [jars])
    source.write_text("right again")
    second = compile_source(str(java), source, [jars])
    (jars / "more.jar").write_bytes(b"jar")
    assert len({first, second, compile_source(str(java), source, [jars])}) == 3
    assert runs(java) == 3


def test_compiler_error_is_reported_and_not_kept(java: Path, jars: Path, source: Path) -> None:
    source.write_text("wrong")
    for _ in range(2):
        with pytest.raises(SandboxError, match=r"Hello\.java cannot be compiled: .*Hello\.java:1: error"):
            compile_source(str(java), source, [jars])
    assert runs(java) == 2


def test_compiled_program_runs(jars: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java = shutil.which("java")
    if java is None:
        pytest.skip("there is no Java")
    need_compiler.cache_clear()
    source.write_text('class Hello { public static void main(String[] a) { System.out.println("hello " + a[0]); } }')
    (jars / "kafka.jar").unlink()
    command = Programs(tmp_path, java, jars).tool(source, ["you"])
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "hello you\n"
