from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox.java import compile_source, find_java, need_compiler, run
from kgroups.sandbox.programs import Programs


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


@pytest.mark.parametrize(
    ("load", "note"), [(3.0, ""), (40.0, r" \(the machine is busy: a load of 40 on \d+ processors\)")]
)
def test_program_that_does_not_end_is_an_error_that_names_the_load(
    load: float, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    with pytest.raises(SandboxError, match=f"^did not end in 0.01 seconds{note}: {sys.executable} -c"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.01)


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
