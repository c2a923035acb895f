"""Build all files of a release: ``python -m tests.distribution.build [--output dist]``.

Wheel, sdist, the wheels of all dependencies in one archive for hosts without network, and a single executable file.
All bytes depend only on the commit and on the build tools, whose versions pyproject.toml pins: times are those of the
last commit, and packages that were published after it are ignored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags

from kgroups.version import __version__

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("exporter", "import")
"""Extras inside; the others need Java, system libraries, or are larger than kgroups."""

GLIBC = 28
"""Wheels run with glibc 2.28 or later: Debian 10, RHEL 8, Ubuntu 20.04."""

SYSTEM = "linux_x86_64"
SINGLE_FILE = f"kgroups-{__version__}-{SYSTEM}.pex"
WHEELHOUSE = f"kgroups-{__version__}-wheelhouse-{SYSTEM}"
SUMS = "SHA256SUMS"


class Failed(Exception):
    """A build step failed; the message is the end of its output."""


def main() -> int:
    """Build into the output folder, which is replaced; return 1 if a step fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.distribution.build", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="default: dist")
    parser.add_argument("--python", action="append", choices=PYTHONS, help=f"default: {', '.join(PYTHONS)}")
    given = parser.parse_args()
    shutil.rmtree(given.output, ignore_errors=True)
    try:
        for path in build(given.output, given.python or PYTHONS):
            print(f"{path.stat().st_size:>12,}  {path.name}")
    except Failed as error:
        print(f"build failed: {error}", file=sys.stderr)
        return 1
    return 0


def build(output: Path, pythons: Sequence[str] = PYTHONS) -> list[Path]:
    """Build all files of a release into a folder, and return them.

    :raises Failed: if a step fails.
    """
    output.mkdir(parents=True, exist_ok=True)
    epoch = commit_time()
    with tempfile.TemporaryDirectory(prefix="kgroups-dist-") as work:
        wheels = Path(work, WHEELHOUSE)
        wheels.mkdir()
        wheel, sdist = build_package(output, epoch)
        shutil.copy(wheel, wheels)
        _download(resolve(Path(work), epoch), wheels, pythons)
        (wheels / "requirements.txt").write_text("".join(_with_hashes(wheels)))
        archive = _archive(wheels, output / f"{WHEELHOUSE}.tar", epoch)
        executable = _executable(wheels, output / SINGLE_FILE, pythons, epoch)
    files = [wheel, sdist, archive, executable]
    sums = output / SUMS
    sums.write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in sorted(files)))
    return [*files, sums]


def commit_time() -> int:
    """Return the time of the last commit, or of ``SOURCE_DATE_EPOCH`` if set, in seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct"))


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a command in the root of the repository; return its standard output.

    :raises Failed: if its exit code is not 0, with the end of its output.
    """
    env = {**os.environ, **(environment or {})}
    done = subprocess.run([*map(str, command)], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        last_lines = (done.stdout + done.stderr).splitlines()[-20:]
        raise Failed("\n".join([f"exit code {done.returncode}: {' '.join(map(str, command))}", *last_lines]))
    return done.stdout


def build_package(output: Path, epoch: int) -> tuple[Path, Path]:
    """Build the wheel and the sdist with the installed hatchling; return their paths."""
    words = ("-m", "build", "--no-isolation", "--outdir", output, ROOT)
    run(sys.executable, *words, environment={"SOURCE_DATE_EPOCH": str(epoch)})
    return output / f"kgroups-{__version__}-py3-none-any.whl", output / f"kgroups-{__version__}.tar.gz"


def uv_environment() -> dict[str, str]:
    """Return variables for uv: the index of pip, whose settings uv does not read."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    return {"UV_DEFAULT_INDEX": done.stdout.strip()} if done.returncode == 0 else {}


def resolve(work: Path, epoch: int, *options: str) -> Path:
    """Write the versions and hashes of all dependencies, as published before a time, to a requirements file."""
    file = work / "resolved.txt"
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    before = datetime.fromtimestamp(epoch, UTC).isoformat()
    run(
        *(sys.executable, "-m", "uv", "pip", "compile", ROOT / "pyproject.toml", *extras, "--output-file", file),
        *("--universal", "--python-version", PYTHONS[0], "--generate-hashes", "--exclude-newer", before, *options),
        environment=uv_environment(),
    )
    return file


def _download(requirements: Path, wheels: Path, pythons: Iterable[str]) -> None:
    platforms = [word for tag in _platforms() for word in ("--platform", tag)]
    for python in pythons:
        run(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels, "--requirement", requirements),
            *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
            *("--implementation", "cp", "--python-version", python, *platforms),
        )


def _platforms() -> list[str]:
    return [*(f"manylinux_2_{minor}_x86_64" for minor in range(GLIBC, 16, -1)), "manylinux2014_x86_64"]


def _packages(wheels: Path) -> dict[str, list[Path]]:
    """Return the requirement of each package of a folder -> its files."""
    found: dict[str, list[Path]] = {}
    for path in sorted(wheels.glob("*.whl")):
        name, version = path.name.split("-")[:2]
        extras = f"[{','.join(EXTRAS)}]" if name == "kgroups" else ""
        found.setdefault(f"{name.replace('_', '-')}{extras}=={version}", []).append(path)
    return found


def _with_hashes(wheels: Path) -> Iterator[str]:
    """Yield the lines of a requirements file: each package of a folder with the hashes of its files."""
    yield "# pip install --no-index --find-links . --require-hashes --requirement requirements.txt\n"
    for package, files in _packages(wheels).items():
        yield package + "".join(f" \\\n    --hash=sha256:{_sha256(path)}" for path in files) + "\n"


def _archive(folder: Path, archive: Path, epoch: int) -> Path:
    """Pack a folder without what differs between builds. Wheels are compressed already."""

    def same(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as tar:
        tar.add(folder, folder.name, recursive=False, filter=same)
        for path in sorted(folder.iterdir()):
            tar.add(path, f"{folder.name}/{path.name}", filter=same)
    return archive


def _executable(wheels: Path, file: Path, pythons: Iterable[str], epoch: int) -> Path:
    """Build one file that runs with each of these versions of Python."""
    targets = []
    for python in pythons:
        target = wheels.parent / f"python{python}.json"
        target.write_text(json.dumps(_target(python)))
        targets += ["--complete-platform", target]
    run(
        # All packages by name: pex may omit those of extras of dependencies, which depends on the seed of hashes.
        *(sys.executable, "-m", "pex", *_packages(wheels), *targets),
        *("--no-pypi", "--find-links", wheels, "--console-script", "kgroups", "--output-file", file),
        # The first run makes a virtual environment, so that later ones start like an installed kgroups.
        *("--venv", "prepend", "--venv-site-packages-copies", "--sh-boot", "--no-compile"),
        environment={"SOURCE_DATE_EPOCH": str(epoch), "PEX_ROOT": str(wheels.parent / "pex")},
    )
    return file


def _target(python: str) -> dict[str, object]:
    """Return the description of a Python version on Linux that pex expects."""
    version, interpreter = tuple(map(int, python.split("."))), f"cp{python.replace('.', '')}"
    tags = [*cpython_tags(version, platforms=_platforms()), *compatible_tags(version, interpreter, _platforms())]
    return {
        "compatible_tags": [str(tag) for tag in tags],
        "marker_environment": {
            "implementation_name": "cpython",
            "implementation_version": f"{python}.0",
            "os_name": "posix",
            "platform_machine": "x86_64",
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": f"{python}.0",
            "python_version": python,
            "sys_platform": "linux",
        },
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
