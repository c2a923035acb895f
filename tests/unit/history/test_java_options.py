"""The archive of Spark's classes: made by one process, used by later ones, never required."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kgroups import class_archive
from kgroups.history.java_options import VARIABLE, java_options


@pytest.fixture(autouse=True)
def _java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds, time.time() - seconds))


def archive_of(options: str) -> Path:
    (word,) = [word for word in options.split() if word.startswith("-XX:ArchiveClassesAtExit=")]
    return Path(word.partition("=")[2])


def test_archive_is_made_by_the_first_and_used_when_complete(tmp_path: Path) -> None:
    made = archive_of(java_options(tmp_path, short=True))
    assert "Archive" not in java_options(tmp_path, short=True)
    made.write_bytes(b"classes")
    assert "Archive" not in java_options(tmp_path, short=True)
    age(made, class_archive.SETTLED + 1)
    whole = made.with_suffix("")
    assert f"-XX:SharedArchiveFile={whole}" in java_options(tmp_path, short=True)
    assert f"-XX:SharedArchiveFile={whole}" in java_options(tmp_path, short=False)
    assert whole.read_bytes() == b"classes"
    assert not made.exists()


def test_archive_that_was_never_completed_is_started_again(tmp_path: Path) -> None:
    made = archive_of(java_options(tmp_path, short=True))
    age(made, class_archive.ABANDONED + 1)
    assert archive_of(java_options(tmp_path, short=True)) == made


def test_archive_is_per_java_version(tmp_path: Path) -> None:
    made = archive_of(java_options(tmp_path, short=True))
    (tmp_path / "jdk" / "release").write_text("JAVA_VERSION=99")
    assert archive_of(java_options(tmp_path, short=True)) != made


def test_archive_can_be_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert "Archive" not in java_options(tmp_path, short=True)
    assert list(tmp_path.glob("*.new")) == []


def test_second_compiler_is_disabled_for_short_commands_only(tmp_path: Path) -> None:
    assert "TieredStopAtLevel" in java_options(tmp_path, short=True)
    assert "TieredStopAtLevel" not in java_options(tmp_path, short=False)


def test_settings_on_the_class_path_disable_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conf").mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    archive_of(java_options(tmp_path, short=True)).unlink()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.executor.memory 1g\n")
    assert "Archive" not in java_options(tmp_path, short=True)
