"""What several tests of the sandbox need."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with the jars of a version."""
    folder = tmp_path / "4.3.1"
    folder.mkdir()
    (folder / "kafka.jar").write_bytes(b"jar")
    return folder
