"""Where a page is put."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kgroups.errors import UsageError
from kgroups.pipeline.report.file import MARK, check_target, write
from kgroups.pipeline.report.page import page
from tests.fakes.report import nothing


def test_a_report_is_replaced_and_nothing_else_left(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write(path, page(nothing()))
    write(path, f"<!DOCTYPE html>\n{MARK}\nnewer")
    assert path.read_text().endswith("newer")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "<html>mine</html>", "x" * 500 + MARK])
def test_another_file_is_left_alone_but_for_force(tmp_path: Path, content: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(content)
    with pytest.raises(UsageError, match="is not a kgroups report"):
        write(path, "new")
    assert path.read_text() == content
    write(path, "new", force=True)
    assert path.read_text() == "new"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        check_target(tmp_path, True)
    with pytest.raises(UsageError, match="is not a directory"):
        check_target(tmp_path / "none" / "report.html", True)


def test_a_page_is_for_its_owner_and_goes_through_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its temporary file has a name that cannot be foretold, and is made anew: no link is followed."""
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
