"""Compare the single file with an installed wheel: seconds of short commands, as ratios, and size.

    make dist && python -m bench.single_file            # the file in dist/
    python -m bench.single_file --shiv                  # also the same wheels packed by shiv, for comparison

Contenders run in turn, so that other load affects all of them. Other load only adds time: the fastest runs are
compared, and the CPU seconds. Exit code 1: one of both is more than 1.5 times that of the wheel.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

from tests.distribution.build import EXTRAS, SINGLE_FILE, WHEELHOUSE, __version__

from .simulated import ClusterShape, Run, measure, simulated

MOST = 1.5
"""The ratio that is promised, after the first run."""

COMMANDS = (("--version",), ("list",))


def main() -> int:
    """Print the figures; return 1 if a command fails or a ratio is too high."""
    parser = argparse.ArgumentParser(prog="python -m bench.single_file", description=__doc__)
    parser.add_argument("--dist", type=Path, default=Path("dist"), help="what make dist has built (default: dist)")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--shiv", action="store_true", help="also measure a file of shiv, which pip installs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as folder:
        work = Path(folder)
        with tarfile.open(given.dist / f"{WHEELHOUSE}.tar") as archive:
            archive.extractall(work, filter="data")
        files = {"single file": given.dist.resolve() / SINGLE_FILE}
        if given.shiv:
            files["shiv"] = _shiv(work)
        contenders = {"wheel": _wheel(work), **files}
        path = f"{_python().parent}:{os.environ['PATH']}"
        os.environ |= {"PEX_ROOT": str(work / "pex"), "SHIV_ROOT": str(work / "shiv"), "PATH": path}
        for name, file in files.items():
            print(f"{name}: {file.stat().st_size / 1e6:.1f} MB")
        with simulated(ClusterShape(groups=100)) as bootstrap:
            ratios = [_compare(contenders, words, bootstrap, work, given.rounds) for words in COMMANDS]
    return int(max(ratios) > MOST)


def _python() -> Path:
    """Return the interpreter without the packages of this environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _wheel(work: Path) -> Path:
    environment, wheels = work / "environment", work / WHEELHOUSE
    venv.create(environment)
    _pip(environment, "--no-index", "--find-links", wheels, "--requirement", wheels / "requirements.txt")
    return environment / "bin" / "kgroups"


def _shiv(work: Path) -> Path:
    tools, file = work / "tools", work / "kgroups.shiv"
    venv.create(tools, with_pip=True)
    _pip(tools, "shiv")
    words = ("--reproducible", "--console-script", "kgroups", "--output-file", file, "--python", str(_python()))
    wheels = ("--no-index", "--find-links", work / WHEELHOUSE, f"kgroups[{','.join(EXTRAS)}]=={__version__}")
    subprocess.run([tools / "bin" / "shiv", *words, *wheels], check=True, capture_output=True)
    return file


def _pip(environment: Path, *words: str | Path) -> None:
    pip = (sys.executable, "-m", "pip", "--python", environment, "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, *words], check=True)


def _compare(contenders: dict[str, Path], words: Sequence[str], bootstrap: str, work: Path, rounds: int) -> float:
    """Print the seconds and the ratios of each contender; return the higher ratio of the single file."""
    runs: dict[str, list[Run]] = {name: [] for name in contenders}
    output = work / "output"
    for number in range(rounds + 1):
        for name, program in contenders.items():
            run = measure((str(program), *words), bootstrap, output)
            if run.code or not output.stat().st_size:
                sys.exit(f"{name}: kgroups {' '.join(words)} failed with exit code {run.code}")
            if number:
                runs[name].append(run)
            elif name != "wheel":
                print(f"kgroups {words[0]}, {name}, first run: {run.seconds:.2f} s, {run.cpu:.2f} CPU s")
    fastest = {name: min(run.seconds for run in done) for name, done in runs.items()}
    cpu = {name: statistics.median(run.cpu for run in done) for name, done in runs.items()}
    ratios = {name: (fastest[name] / fastest["wheel"], cpu[name] / cpu["wheel"]) for name in contenders}
    for name, (time, work_done) in ratios.items():
        print(
            f"kgroups {words[0]}, {name}: fastest {fastest[name]:.3f} s, {time:.2f}x; "
            f"median {cpu[name]:.3f} CPU s, {work_done:.2f}x"
        )
    return max(ratios["single file"])


if __name__ == "__main__":
    sys.exit(main())
