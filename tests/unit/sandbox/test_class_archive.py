"""The archive of Kafka's classes: made once in the background, used by later programs, never required."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from kgroups.class_archive import ClassArchive
from kgroups.sandbox.programs import Programs

# A java that archives the classes it is given, and counts its runs.
JAVA = """#!/bin/sh
for word; do case $word in
  -XX:SharedArchiveFile=*) archive=${word#*=};;
  -XX:SharedClassListFile=*) classes=${word#*=};;
esac; done
echo run >> "$0.runs"
cp "$classes" "$archive"
"""


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return write_java(tmp_path, JAVA)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A sandbox's folder with what two programs have loaded."""
    folder = tmp_path / "sandbox"
    folder.mkdir()
    (folder / "broker-1.classes").write_text("java/lang/Object\nkafka/Kafka\norg/half")
    (folder / "format.classes").write_text("java/lang/Object\nkafka/Storage\n")
    return folder


def write_java(folder: Path, script: str) -> Path:
    java = folder / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(script)
    java.chmod(0o755)
    return java


def wait_made(archive: ClassArchive) -> None:
    """Wait until the process that makes the archive has ended and released its lock."""
    with archive.file.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


def runs(java: Path) -> int:
    counted = java.with_name("java.runs")
    return len(counted.read_text().splitlines()) if counted.exists() else 0


def test_archive_of_recorded_classes_is_used(java: Path, jars: Path, records: Path) -> None:
    archive = ClassArchive(str(java), jars)
    assert archive.use() == ()
    assert f"-XX:DumpLoadedClassList={records}/broker-2.classes" in archive.use_or_record(records, "broker-2")
    archive.make(records)
    wait_made(archive)
    assert archive.file.read_text() == "java/lang/Object\nkafka/Kafka\nkafka/Storage\n"
    assert f"-XX:SharedArchiveFile={archive.file}" in archive.use()
    assert archive.use_or_record(records, "broker-2") == archive.use()
    assert {path.suffix for path in archive.file.parent.iterdir()} == {".jsa", ".lock"}


def test_archive_is_made_once(java: Path, jars: Path, records: Path) -> None:
    archive = ClassArchive(str(java), jars)
    for _ in range(2):
        archive.make(records)
        wait_made(archive)
    assert runs(java) == 1


def test_archive_is_made_by_one_process_at_a_time(java: Path, jars: Path, records: Path) -> None:
    archive = ClassArchive(str(java), jars)
    archive.file.parent.mkdir(parents=True)
    with archive.file.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        archive.make(records)
    wait_made(archive)
    assert (runs(java), archive.use()) == (0, ())


def test_lock_is_held_until_the_archive_is_complete(tmp_path: Path, java: Path, jars: Path, records: Path) -> None:
    go = tmp_path / "go"
    write_java(tmp_path, JAVA.replace("cp ", f'until [ -e "{go}" ]; do sleep 0.01; done; cp '))
    archive = ClassArchive(str(java), jars)
    archive.make(records)
    try:
        until = time.monotonic() + 60
        while runs(java) == 0 and time.monotonic() < until:
            time.sleep(0.01)
        archive.make(records)
        assert archive.use() == ()
    finally:
        go.touch()
    wait_made(archive)
    assert archive.use()
    assert runs(java) == 1


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n"])
def test_java_that_makes_no_archive_is_not_asked_again(
    tmp_path: Path, java: Path, jars: Path, records: Path, script: str
) -> None:
    write_java(tmp_path, script)
    archive = ClassArchive(str(java), jars)
    archive.make(records)
    wait_made(archive)
    assert archive.use_or_record(records, "broker-1") == ()


def test_unwritable_cache_is_ignored(
    tmp_path: Path, java: Path, jars: Path, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    archive = ClassArchive(str(java), jars)
    archive.make(records)
    assert archive.use() == ()


def test_other_java_or_jars_have_their_own_archive(java: Path, jars: Path) -> None:
    first = ClassArchive(str(java), jars).file
    os.utime(jars / "kafka.jar", (1, 1))
    second = ClassArchive(str(java), jars).file
    (java.parents[1] / "release").write_text("JAVA_VERSION=99")
    third = ClassArchive(str(java), jars).file
    assert len({first, second, third}) == 3


def test_archive_is_used_with_more_jars(tmp_path: Path, java: Path, jars: Path, records: Path) -> None:
    """Java accepts an archive if the class path begins with the archive's jars."""
    archive = ClassArchive(str(java), jars)
    archive.make(records)
    wait_made(archive)
    command = Programs(tmp_path, str(java), jars).tool("Worker", [], more_jars=[tmp_path / "more"])
    assert command[command.index("-cp") + 1] == f"{jars}/*{os.pathsep}{tmp_path}/more/*"
    assert archive.use()[0] in command
