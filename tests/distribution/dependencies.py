"""Test with other dependencies, or another Python: ``python -m tests.distribution.dependencies lowest``.

Each set is an environment below ``build/``, made by uv. Unit tests run there, and integration tests of two commands.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.distribution.build import PYTHONS, ROOT, Failed, run, uv_environment
from tests.distribution.interpreters import interpreters

SETS = ("lowest", "newest", *PYTHONS)
INTEGRATION = ("tests/integration/test_list.py", "tests/integration/test_describe.py")
KAFKA = ("-m", "shared", "--require-kafka", "--kafka", "4.3.1")
NOT_RUN = {"gssapi": "needs the headers of Kerberos", "dev": "tools of the tests are always the newest"}
"""Extras whose lowest versions are not tested, with the reason."""


class NotInstalled(Exception):
    """There is no interpreter of a version of Python."""


def main() -> int:
    """Run the tests with each set; return the exit code of the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.distribution.dependencies", description=__doc__)
    parser.add_argument("sets", nargs="+", choices=SETS, metavar="SET", help=", ".join(SETS))
    parser.add_argument("--no-kafka", action="store_true", help="only unit tests")
    given = parser.parse_args()
    for name in given.sets:
        try:
            python = environment(name)
        except (Failed, NotInstalled) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        if code := run_tests(python, kafka=not given.no_kafka):
            return code
    return 0


def environment(name: str) -> Path:
    """Make the environment of a set; return its interpreter.

    :raises Failed: if packages cannot be installed.
    :raises NotInstalled: if there is no interpreter of that version.
    """
    folder = ROOT / "build" / name
    python = interpreters([name]).get(name) if name in PYTHONS else Path(sys.executable)
    if python is None:
        raise NotInstalled(f"Python {name} is neither in PATH nor in the folder of pyenv")
    uv = (sys.executable, "-m", "uv")
    run(*uv, "venv", "--quiet", "--clear", "--python", python, folder, environment=uv_environment())
    constraints: Sequence[str | Path] = ()
    if name == "lowest":
        constraints = ("--constraint", _lowest(folder))
    words = ("--python", folder, *constraints, "--upgrade", "--editable", ".[dev,pipeline]")
    run(*uv, "pip", "install", "--quiet", *words, environment=uv_environment())
    return folder / "bin" / "python"


def _lowest(folder: Path) -> Path:
    """Write the lowest versions that pyproject.toml allows to a constraints file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [word for extra in project["optional-dependencies"] if extra not in NOT_RUN for word in ("--extra", extra)]
    file = folder / "lowest.txt"
    run(
        *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "pyproject.toml", *extras, "--output-file", file),
        *("--resolution", "lowest-direct", "--python-version", PYTHONS[0]),
        environment=uv_environment(),
    )
    return file


def run_tests(python: Path, *, kafka: bool) -> int:
    """Run the tests with an interpreter; return the exit code of pytest."""
    pytest = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    code = subprocess.run([*pytest, "tests/unit"], cwd=ROOT, check=False).returncode
    if kafka and not code:
        code = subprocess.run([*pytest, *INTEGRATION, *KAFKA], cwd=ROOT, check=False).returncode
    return code


if __name__ == "__main__":
    sys.exit(main())
