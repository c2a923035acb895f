"""Check that the last commit can be released: ``python -m tests.distribution.release_check [--only NAME]...``.

Prints one line for each check: PASS, FAIL, or NOT AVAILABLE with the reason. Logs are in ``build/release-check/``. Exit
code 1: a check failed. What is not available was not checked.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from junitparser import Error, Failure, JUnitXml, Skipped

from kgroups.version import __version__
from tests.distribution.build import PYTHONS, ROOT
from tests.distribution.interpreters import interpreters

LOGS = ROOT / "build" / "release-check"
PASS, FAIL, NOT_AVAILABLE = "PASS", "FAIL", "NOT AVAILABLE"


class Result(NamedTuple):
    """The result of one check, and a reason."""

    verdict: str
    reason: str = ""


class Check(NamedTuple):
    """A check; ``run`` yields the name of each part with its result."""

    name: str
    run: Callable[[], Iterator[tuple[str, Result]]]


def main() -> int:
    """Run the checks; return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.distribution.release_check", description=__doc__)
    parser.add_argument("--only", action="append", choices=[check.name for check in CHECKS], help="run only this check")
    given = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    verdicts = []
    for check in CHECKS:
        if given.only and check.name not in given.only:
            continue
        for name, result in check.run():
            verdicts.append(result.verdict)
            print(f"{result.verdict:<13}  {name}{': ' if result.reason else ''}{result.reason}", flush=True)
    print(", ".join(f"{verdicts.count(each)} {each}" for each in (PASS, FAIL, NOT_AVAILABLE)))
    return int(FAIL in verdicts)


def logged(name: str, command: Sequence[str | Path]) -> tuple[int, str]:
    """Run a command in the root of the repository; return its exit code and output, which is also in a log."""
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    (LOGS / f"{name}.log").write_text(output)
    return done.returncode, output


def command(name: str, *words: str | Path) -> Check:
    """Return a check that passes if a command succeeds."""

    def check() -> Iterator[tuple[str, Result]]:
        code, _ = logged(name, words)
        yield name, _failed(name, code) if code else Result(PASS)

    return Check(name, check)


def _failed(name: str, code: int) -> Result:
    return Result(FAIL, f"exit code {code}: {(LOGS / f'{name}.log').relative_to(ROOT)}")


def _clean_tree() -> Iterator[tuple[str, Result]]:
    code, output = logged("clean tree", ("git", "status", "--porcelain"))
    changed = len(output.splitlines())
    yield "clean tree", Result(FAIL, f"{changed} files are not committed") if code or changed else Result(PASS)


def _version() -> Iterator[tuple[str, Result]]:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not re.search(rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d{{2}}-\d{{2}}$", text, re.MULTILINE):
        yield "version", Result(FAIL, f"CHANGELOG.md has no section ## [{__version__}] - YYYY-MM-DD")
    elif unreleased and unreleased[1].strip():
        yield "version", Result(FAIL, f"CHANGELOG.md has changes that are not in {__version__}")
    else:
        yield "version", Result(PASS, __version__)


def _docs() -> Iterator[tuple[str, Result]]:
    if not re.search(r"^docs:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        yield "docs", Result(NOT_AVAILABLE, "the Makefile has no target docs")
        return
    code, _ = logged("docs", ("make", "docs"))
    yield "docs", _failed("docs", code) if code else Result(PASS)


def _distribution() -> Iterator[tuple[str, Result]]:
    """Yield a line for each test of the files of a release and of the files for deployments."""
    report = LOGS / "files.xml"
    report.unlink(missing_ok=True)
    words = (
        "-m",
        "pytest",
        "-q",
        "--soak",
        "tests/distribution",
        "tests/unit/test_examples.py",
        f"--junit-xml={report}",
    )
    code, _ = logged("files", (sys.executable, *words))
    if not report.exists():
        yield "files", _failed("files", code)
        return
    found: dict[str, list[Result]] = {}
    for suite in JUnitXml.fromfile(str(report)):
        for case in suite:
            name = re.sub(r"\[.*", "", case.name).removeprefix("test_").replace("_", " ")
            found.setdefault(name, []).append(_case(case.result))
    for name, results in found.items():
        worst = next((each for verdict in (FAIL, NOT_AVAILABLE) for each in results if each.verdict == verdict), None)
        yield name, worst or Result(PASS)
    if code not in (0, 1) or not found:
        yield "files", _failed("files", code)


def _case(results: Sequence[object]) -> Result:
    for result in results:
        if isinstance(result, Failure | Error):
            return Result(FAIL, "build/release-check/files.log")
        if isinstance(result, Skipped):
            return Result(NOT_AVAILABLE, str(result.message))
    return Result(PASS)


def _audit() -> Iterator[tuple[str, Result]]:
    code, output = logged("audit", ("make", "audit"))
    vulnerable = re.search(r"Found \d+ known vulnerabilit.*", output)
    if vulnerable:
        yield "audit", Result(FAIL, f"{vulnerable[0]}: build/release-check/audit.log")
    elif code:
        errors = [line for line in output.splitlines() if line.startswith("ERROR")] or output.splitlines()[-1:]
        yield "audit", Result(NOT_AVAILABLE, f"the audit is incomplete: {errors[0][:160] if errors else 'no output'}")
    else:
        yield "audit", Result(PASS)


def _pythons() -> Iterator[tuple[str, Result]]:
    installed = interpreters(PYTHONS)
    for version in PYTHONS:
        name = f"Python {version}"
        if version not in installed:
            yield name, Result(NOT_AVAILABLE, "neither in PATH nor in the folder of pyenv")
            continue
        code, _ = logged(name, (sys.executable, "-m", "tests.distribution.dependencies", "--no-kafka", version))
        yield name, _failed(name, code) if code else Result(PASS, str(installed[version]))


PYTHON = sys.executable
CHECKS = (
    Check("clean tree", _clean_tree),
    Check("version", _version),
    command("style", "make", "style"),
    Check("docs", _docs),
    command("dist", PYTHON, "-m", "tests.distribution.build"),
    Check("files", _distribution),
    command("startup of the single file", PYTHON, "-m", "bench.single_file"),
    command("sbom", "make", "sbom"),
    Check("audit", _audit),
    command("lowest", PYTHON, "-m", "tests.distribution.dependencies", "lowest"),
    command("newest", PYTHON, "-m", "tests.distribution.dependencies", "newest"),
    Check("pythons", _pythons),
)

if __name__ == "__main__":
    sys.exit(main())
