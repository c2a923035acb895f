"""Writing the report file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kgroups.errors import UsageError
from kgroups.history.report.file import MARK, check_target, write
from kgroups.history.report.page import page
from tests.fakes.report import nothing


def test_write_replaces_a_report_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write(path, page(nothing()))
    write(path, f"<!DOCTYPE html>\n{MARK}\nnewer")
    assert path.read_text().endswith("newer")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "<html>mine</html>", "x" * 500 + MARK])
def test_write_rejects_other_file_unless_forced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(content)
    with pytest.raises(UsageError, match="is not a kgroups report"):
        write(path, "new")
    assert path.read_text() == content
    write(path, "new", force=True)
    assert path.read_text() == "new"


def test_check_target_rejects_a_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        check_target(tmp_path, True)
    with pytest.raises(UsageError, match="is not a directory"):
        check_target(tmp_path / "none" / "report.html", True)


def test_write_is_private_and_follows_no_symlink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary file has an unpredictable name and is created exclusively: no link is followed."""
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    path = tmp_path / "report.html"
    (tmp_path / f".{path.name}.{os.getpid()}.new").symlink_to(victim)
    write(path, "page")
    assert victim.read_text() == "mine" and path.read_text() == "page"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    write(path, "next", force=True)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("next", 0o644)
