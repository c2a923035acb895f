"""Distributions: the build is reproducible and complete, and the wheel works in an environment of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from kgroups.version import __version__
from tests.distribution.build import commit_time

ROOT = Path(__file__).parents[2]
LEFT_OUT = {
    ".git",
    ".venv",
    "build",
    "dist",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
}

IMPORT_SANDBOX = """
import importlib, pkgutil, kgroups.sandbox
for module in pkgutil.walk_packages(kgroups.sandbox.__path__, "kgroups.sandbox."):
    importlib.import_module(module.name)
"""


def run(*command: str | Path) -> str:
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(commit_time()), "PYTHONPATH": ""}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(where: Path) -> dict[str, Path]:
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", where, ROOT)
    return {path.suffix: path for path in where.iterdir()}


@pytest.fixture(scope="module")
def files(release: Path) -> dict[str, Path]:
    return {path.suffix: path for path in release.iterdir() if path.suffix in (".whl", ".gz")}


def test_built_twice_is_byte_identical(files: dict[str, Path], tmp_path: Path) -> None:
    again = built(tmp_path)
    assert {suffix: path.name for suffix, path in again.items()} == {
        suffix: path.name for suffix, path in files.items()
    }
    for suffix, path in files.items():
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(again[suffix].read_bytes()).digest(), path


def test_distribution_is_complete(files: dict[str, Path], man_pages: dict[str, bytes]) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", *files.values())
    assert {path.name for path in files.values()} == {
        f"kgroups-{__version__}-py3-none-any.whl",
        f"kgroups-{__version__}.tar.gz",
    }
    inside = set(zipfile.ZipFile(files[".whl"]).namelist())
    package = [path for path in (ROOT / "kgroups").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.relative_to(ROOT).as_posix() for path in package} <= inside
    shared = {name.partition(".data/data/")[2] for name in inside if ".data/data/" in name}
    tools = (
        *("kgroups", "kafka-consumer-groups", "kafka-groups", "kafka-share-groups"),
        *("kafka-streams-application-reset", "kafka-streams-groups"),
    )
    assert shared == {
        *(f"share/bash-completion/completions/{tool}" for tool in tools),
        "share/zsh/site-functions/_kgroups",
        *(f"share/fish/vendor_completions.d/{tool}.fish" for tool in tools),
        *(f"share/man/man1/{name}" for name in man_pages),
    }
    with tarfile.open(files[".gz"]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "docs/README.md",
        "LICENSE",
        "tests/conftest.py",
        "completions/generate.py",
        *(f"completions/man1/{name}" for name in man_pages),
    } <= names
    assert not {Path(name).parts[0] for name in names if name} & LEFT_OUT


@pytest.fixture(scope="module")
def man_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What ``completions/generate.py`` writes, by file name."""
    folder = tmp_path_factory.mktemp("generated")
    run(sys.executable, ROOT / "completions" / "generate.py", folder)
    found = {path.name: path.read_bytes() for path in (folder / "man1").iterdir()}
    assert len(found) > 50
    return found


def test_man_pages_of_wheel_and_sdist_are_the_generated_ones(
    files: dict[str, Path], man_pages: dict[str, bytes]
) -> None:
    with zipfile.ZipFile(files[".whl"]) as wheel:
        of_wheel = {Path(name).name: wheel.read(name) for name in wheel.namelist() if "/share/man/man1/" in name}
    with tarfile.open(files[".gz"]) as sdist:
        entries = [entry for entry in sdist.getmembers() if "/completions/man1/" in entry.name]
        of_sdist = {Path(entry.name).name: sdist.extractfile(entry).read() for entry in entries}
    assert of_wheel == man_pages
    assert of_sdist == man_pages


def test_wheel_of_the_clone_is_that_of_the_sdist(files: dict[str, Path], tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, ROOT)
    (wheel,) = tmp_path.iterdir()
    assert wheel.read_bytes() == files[".whl"].read_bytes()


REQUIRED = "import hatchling.build as build; print(build.get_requires_for_build_{}())"


def test_only_a_clone_needs_click_for_a_build(files: dict[str, Path], tmp_path: Path) -> None:
    with tarfile.open(files[".gz"]) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (extracted,) = tmp_path.iterdir()
    for target in ("wheel", "sdist"):
        command = [sys.executable, "-c", REQUIRED.format(target)]
        required = {
            folder: subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
            for folder in (extracted, ROOT)
        }
        assert required == {extracted: "[]", ROOT: "['click<9,>=8.4']"}


def test_installed_alone_commands_work(files: dict[str, Path], tmp_path: Path) -> None:
    venv.create(tmp_path)
    programs = tmp_path / "bin"
    # With our own pip: installing another one and compiling everything take longer than the rest of the test.
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", tmp_path)
    elsewhere = tmp_path / "confluent" / "kafka-consumer-groups"
    elsewhere.parent.mkdir()
    elsewhere.write_text("#!/bin/sh\necho of Confluent\n")
    elsewhere.chmod(0o755)
    (programs / "kafka-groups").write_text("in the folder of the environment")
    paths = [f"{elsewhere.parent}:{programs}", f"{programs}:{elsewhere.parent}"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{paths[0]}:{os.environ['PATH']}")
        run(*pip, "install", "--quiet", "--no-compile", files[".whl"])
    assert elsewhere.read_text() == "#!/bin/sh\necho of Confluent\n"
    assert [shutil.which("kafka-consumer-groups", path=path) for path in paths] == [
        str(elsewhere),
        str(programs / "kafka-consumer-groups"),
    ]
    assert "kgroups" in (programs / "kafka-groups").read_text()  # as documented: pip overwrites it there
    assert run(programs / "kgroups", "--version").strip() == f"kgroups {__version__}"
    assert "list" in run(programs / "kgroups", "--help")
    assert "kgroups history publish" in run(programs / "kgroups", "--help-json")  # all commands, without extras
    assert "--max-series" in run(programs / "kgroups", "exporter", "--help")
    assert run(programs / "kafka-consumer-groups", "--version")
    assert "complete -F _kgroups_completion" in run(programs / "kgroups", "completion", "bash")
    listed = run(*pip, "list", "--format=freeze").lower()
    assert not {"pyspark", "pyarrow", "boto3", "kio", "hypothesis"} & {
        line.partition("==")[0] for line in listed.splitlines()
    }
    run(programs / "python", "-c", IMPORT_SANDBOX)
    asked = subprocess.run(
        [programs / "kgroups", "list", "-b", "127.0.0.1:1"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr == "kgroups: error: no bootstrap server responded: 127.0.0.1:1: connection refused\n"
    history = subprocess.run(
        [programs / "kgroups", "history", "show", "latest_offsets", "--store", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert history.returncode == 2 and "kgroups[pipeline]" in history.stderr, history.stderr
    assert "in a clone of the repository: pip install '.[pipeline]'" in history.stderr


@pytest.mark.soak
@pytest.mark.parametrize("source", ["clone", "wheel"])
@pytest.mark.parametrize("tool", ["pip", "pipx", "uv"])
def test_each_way_of_the_documentation_installs(
    tool: str, source: str, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty environment: pip, pipx, and uv tool, from a clone and from a wheel."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    what = ROOT if source == "clone" else files[".whl"]
    programs = tmp_path / "bin"
    pip = (environment / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
    for name, folder in {
        "PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man", "UV_TOOL_DIR": "uv", "UV_TOOL_BIN_DIR": "bin"
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path / folder))
    if tool == "pip":
        run(*pip, what)
        programs = environment / "bin"
    else:
        run(*pip, tool)
        index = subprocess.run(
            [*pip[:1], "config", "get", "global.index-url"], capture_output=True, text=True, check=False
        )
        if index.returncode == 0:  # which uv does not read
            monkeypatch.setenv("UV_DEFAULT_INDEX", index.stdout.strip())
        words = ("tool", "install") if tool == "uv" else ("install",)
        run(environment / "bin" / tool, *words, what)
    assert run(programs / "kgroups", "--version").strip() == f"kgroups {__version__}"
    assert run(programs / "kafka-consumer-groups", "--version")
