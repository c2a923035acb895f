"""Run fuzz targets with atheris: ``python -m tests.fuzz.run [--seconds N] [TARGET]...``.

Each target runs in a process of its own for N seconds. A finding (an exception that is not documented, more than
``--input-seconds`` or ``--mebibytes`` for one input) is saved under ``findings/`` with its traceback; a minimized copy
belongs into ``regressions/TARGET/``, where the tests replay it. Exit code 1: there are findings.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz import harness

_DONE = re.compile(r"Done (\d+) runs? in (\d+) second")
_STAT = re.compile(r"stat::number_of_executed_units: *(\d+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: all of {', '.join(harness.NAMES)}")
    parser.add_argument("--seconds", type=int, default=180, help="for each target (default: 180)")
    parser.add_argument("--input-seconds", type=int, default=10)
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--longest", type=int, default=16384, help="bytes of an input")
    parser.add_argument("--findings", type=Path, default=harness.HERE / "findings")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given, rest = parser.parse_known_args()
    if given.only:
        return _fuzz(given.only, [*rest, *given.targets])  # the corpus
    if unknown := set(given.targets) - set(harness.NAMES):
        parser.error(f"no target {', '.join(sorted(unknown))}; choose from {', '.join(harness.NAMES)}")
    bad = [name for name in given.targets or harness.NAMES if not _run(name, given)]
    print(f"findings in: {', '.join(bad)}" if bad else "no findings", flush=True)
    return bool(bad)


def _run(name: str, given: argparse.Namespace) -> bool:
    given.findings.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kgroups-fuzz-") as corpus:
        for at, seed in enumerate(harness.load(name).seeds()):
            Path(corpus, f"seed{at}").write_bytes(seed)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fuzz.run", "--only", name),
                f"-max_total_time={given.seconds}",
                f"-timeout={given.input_seconds}",
                f"-rss_limit_mb={given.mebibytes}",
                f"-max_len={given.longest}",
                f"-artifact_prefix={given.findings}/{name}-",
                "-print_final_stats=1",
                "-verbosity=0",
                corpus,
            ],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    runs = _DONE.search(done.stderr) or _STAT.search(done.stderr)
    print(f"{name}: {runs[1] if runs else 'unknown'} runs, exit code {done.returncode}", flush=True)
    if done.returncode:
        (given.findings / f"{name}.log").write_text(done.stdout + done.stderr)
        print((done.stdout + done.stderr)[-3000:], flush=True)
    return done.returncode == 0


def _fuzz(name: str, arguments: list[str]) -> int:
    import atheris

    with atheris.instrument_imports(include=["kgroups"]):
        target = harness.load(name)
    atheris.Setup([sys.argv[0], *arguments], target.one)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
