from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.published import make_stores

Run = Callable[..., Any]


@pytest.fixture
def location(tmp_path: Path) -> str:
    make_stores(str(tmp_path / "history"))
    return str(tmp_path / "history")


def test_publish_reports_changes(run_cli: Run, location: str) -> None:
    done = run_cli("history", "publish", "--store", location, "--delta")
    assert (done.code, done.out, done.err) == (0, "", "13 tables published: 28 files added, 0 removed\n")
    done = run_cli("history", "publish", "--store", location, "--delta")
    assert (done.code, done.err) == (0, "13 tables published: nothing has changed\n")


def test_publish_takes_the_catalog_from_options(run_cli: Run, location: str, tmp_path: Path) -> None:
    settings = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}/w"}
    options = [word for key, value in settings.items() for word in ("--catalog-property", f"{key}={value}")]
    done = run_cli("history", "publish", "--store", location, "--iceberg", "mine", *options, "--namespace", "ops")
    assert (done.code, done.err) == (0, "13 tables published: 28 files added, 0 removed\n")
    assert sorted(path.name for path in (tmp_path / "w").iterdir()) == ["ops"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "use --iceberg CATALOG or --delta"),
        (["--iceberg", "x", "--delta"], "--iceberg and --delta are mutually exclusive"),
        (["--delta", "--namespace", "x"], "--catalog-property and --namespace require --iceberg"),
        (["--iceberg", "x", "--catalog-property", "SECRET"], "must be KEY=VALUE"),
        (["--iceberg", "nowhere"], "Iceberg catalog nowhere: URI missing"),
    ],
)
def test_publish_rejects_wrong_options(run_cli: Run, location: str, arguments: list[str], message: str) -> None:
    done = run_cli("history", "publish", "--store", location, *arguments)
    assert done.code != 0 and done.out == ""
    assert message in done.err and "SECRET" not in done.err


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [(["--iceberg", "x"], "pyiceberg", "iceberg"), (["--delta"], "deltalake", "delta")],
)
def test_publish_names_the_missing_extra(
    run_cli: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], package: str, extra: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else real(name))
    done = run_cli("history", "publish", "--store", "/nowhere", *arguments)
    assert done.code == 2
    assert f"history needs {package}: pip install 'kgroups[{extra}]'" in done.err
