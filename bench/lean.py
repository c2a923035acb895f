"""Create a separate virtual environment in which only kgroups is installed, as a user does.

The measurement must not depend on development packages, which a user does not have.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WORK = ROOT / ".bench"


class Lean(NamedTuple):
    """Paths of programs in the virtual environment."""

    python: str
    kgroups: str


def ensure_lean(progress: Callable[[str], None]) -> Lean:
    """Create the environment once, and reinstall kgroups when its source has changed."""
    folder = WORK / "venv"
    lean = Lean(str(folder / "bin" / "python"), str(folder / "bin" / "kgroups"))
    mark, source = folder / "source.sha256", _source()
    if not mark.exists():
        progress("creating a virtual environment with kgroups")
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _install(lean)
    elif mark.read_text() != source:
        progress("reinstalling kgroups because its source has changed")
        _install(lean, "--force-reinstall", "--no-deps")
    mark.write_text(source)
    return lean


def _install(lean: Lean, *options: str) -> None:
    _run(lean.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, str(ROOT))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def _source() -> str:
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    for path in sorted((ROOT / "kgroups").rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
