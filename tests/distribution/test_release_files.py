"""The files of a release: they install without network, run with each Python, and can be built again to the byte."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from kgroups.version import __version__
from tests.distribution.build import PYTHONS, SINGLE_FILE, SUMS, build
from tests.distribution.interpreters import interpreters
from tests.distribution.offline import offline


def install(wheelhouse: Path, environment: Path, code: int = 0) -> str:
    """Install as documented, with the pip of the tests."""
    venv.create(environment)
    return offline(
        *(sys.executable, "-m", "pip", "--python", environment, "install", "--no-compile", "--no-index"),
        *("--find-links", wheelhouse, "--require-hashes", "--requirement", wheelhouse / "requirements.txt"),
        code=code,
    )


def test_wheelhouse_installs_without_network(wheelhouse: Path, bootstrap: str, tmp_path: Path) -> None:
    install(wheelhouse, tmp_path)
    kgroups = tmp_path / "bin" / "kgroups"
    assert offline(kgroups, "--version") == f"kgroups {__version__}\n"
    assert offline(kgroups, "list", "-b", bootstrap, "-o", "csv", "--columns", "group") == "group\norders\n"
    assert "kgroups_build_info" in offline(tmp_path / "bin" / "python", "-c", METRICS)  # its extra is complete


METRICS = """
from kgroups.exporter.exposition import Exposition
from kgroups.exporter.metrics import Level
answer = Exposition(Level.PARTITION)({"HTTP_ACCEPT": "text/plain"}, lambda *_: None)
print(b"".join(answer).decode())
"""


def test_wheelhouse_with_a_changed_wheel_is_rejected(wheelhouse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(wheelhouse, copy)
    (wheel,) = copy.glob("click-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    assert "DO NOT MATCH THE HASHES" in install(copy, tmp_path / "environment", code=1)


def test_sums_are_those_of_all_files(release: Path) -> None:
    sums = dict(reversed(line.split("  ")) for line in (release / SUMS).read_text().splitlines())
    files = [path for path in release.iterdir() if path.name != SUMS]
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert len(sums) == 4


def test_single_file_runs_the_commands(release: Path, bootstrap: str, tmp_path: Path) -> None:
    python = tmp_path / "bin" / f"python3.{sys.version_info.minor}"  # without the packages of the tests
    python.parent.mkdir()
    python.symlink_to(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    variables = {"PEX_ROOT": str(tmp_path / "root"), "PATH": f"{python.parent}:{os.environ['PATH']}"}
    file = release / SINGLE_FILE
    assert offline(file, "--version", **variables) == f"kgroups {__version__}\n"
    assert (tmp_path / "root" / "venvs").is_dir()  # later runs start from there
    words = ("list", "-b", bootstrap, "-o", "csv", "--columns", "group")
    assert offline(file, *words, **variables) == "group\norders\n"
    error = offline(file, "list", "-b", "127.0.0.1:1", code=1, **variables)
    assert error == "kgroups: error: no bootstrap server responded: 127.0.0.1:1: connection refused\n"
    tool = {**variables, "PEX_SCRIPT": "kafka-consumer-groups"}
    assert offline(file, "--bootstrap-server", bootstrap, "--list", **tool) == "orders\n"


def test_single_file_has_all_wheels(release: Path, wheelhouse: Path) -> None:
    with zipfile.ZipFile(release / SINGLE_FILE) as file:
        inside = {name.split("/")[1] for name in file.namelist() if name.startswith(".deps/")} - {""}
    assert inside == {path.name for path in wheelhouse.glob("*.whl")}


@pytest.mark.soak
def test_built_twice_all_files_are_byte_identical_and_run_with_each_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    first = build(tmp_path / "first")
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    second = build(tmp_path / "second")
    assert [path.name for path in first] == [path.name for path in second]
    for one, other in zip(first, second, strict=True):
        assert hashlib.sha256(one.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest(), one
    found = interpreters(PYTHONS)
    assert found
    for version, python in found.items():
        variables = {"PEX_ROOT": str(tmp_path / "root"), "PEX_PYTHON": str(python)}
        assert offline(tmp_path / "first" / SINGLE_FILE, "--version", **variables) == f"kgroups {__version__}\n", (
            version
        )
