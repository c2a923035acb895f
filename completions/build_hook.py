"""The build hook of hatchling that adds the man pages to the sdist and the wheel (``pyproject.toml``)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = "completions/man1"
"""Where an sdist has the man pages."""
INSTALLED = "share/man/man1"


class ManPages(BuildHookInterface[Any]):
    """Generate the man pages in a clone; an sdist has them, so that its build needs no further package."""

    def dependencies(self) -> list[str]:
        """Return what the generator imports."""
        return [] if self._is_sdist else [each for each in self.metadata.core.dependencies if each.startswith("click")]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the man pages to the files of the distribution.

        :raises RuntimeError: the man pages cannot be generated, with the reason.
        """
        if self._is_sdist:
            pages = Path(self.root, PAGES)
        else:
            self._folder = TemporaryDirectory(prefix="kgroups-pages-")  # deleted with the hook
            pages = Path(self._folder.name, "man1")
            _generate(Path(self.root), pages.parent)
        key, place = ("force_include", PAGES) if self.target_name == "sdist" else ("shared_data", INSTALLED)
        build_data[key][str(pages)] = place

    @property
    def _is_sdist(self) -> bool:
        return Path(self.root, "PKG-INFO").is_file()


def _generate(root: Path, folder: Path) -> None:
    command = [sys.executable, root / "completions" / "generate.py", folder]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the man pages cannot be generated:\n{done.stderr}")
