"""Find the versions of Python that are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path


def interpreters(versions: Iterable[str]) -> dict[str, Path]:
    """Return version -> interpreter for each version in ``PATH`` or in the folder of pyenv; newest patch first."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for version in versions:
        folders = sorted(pyenv.glob(f"{version}.*"), key=lambda path: [*map(int, re.findall(r"\d+", path.name))])
        candidates = [path / "bin" / "python" for path in reversed(folders)]
        if in_path := shutil.which(f"python{version}"):
            candidates.insert(0, Path(in_path))
        if working := next((python for python in candidates if _is(version, python)), None):
            found[version] = working
    return found


def _is(version: str, python: Path) -> bool:
    """Run it: a shim of pyenv exists for each installed version, but fails unless that version is selected."""
    code = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode == 0 and done.stdout.strip() == version
