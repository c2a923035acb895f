"""The options of ``kgroups history report``."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.cli.main import main


@pytest.mark.parametrize(
    ("option", "note"),
    [("--file", ""), ("-o", "kgroups: note: --output of kgroups history report is deprecated; use --file\n")],
)
def test_report_names_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, note: str) -> None:
    path = tmp_path / "mine.html"
    path.write_text("mine")
    assert main(["history", "report", "--store", str(tmp_path), option, str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"{note}kgroups: error: ") and str(path) in err and "--force" in err
