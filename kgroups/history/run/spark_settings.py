"""The options of history that are passed to Spark: ``--conf``, ``--packages``, and ``--py-files``."""

from __future__ import annotations

import re
from typing import Any

import click

_COORDINATE = re.compile(r"[^:\s,]+:[^:\s,]+:[^:\s,]+")
_REMOTE_FILE = re.compile(r"[a-zA-Z][\w+.-]*:/")
_PYTHON = (".py", ".zip", ".egg", ".jar")
"""Files that Spark puts on the path of its Python workers; it ignores others."""

_FIXES = {
    "spark.master": "use --master",
    "spark.remote": "use --remote",
    "spark.jars.packages": "use --packages",
    "spark.submit.pyFiles": "use --py-files",
    "spark.sql.session.timeZone": "kgroups requires UTC; omit it",
}
"""Settings that ``--conf`` does not accept, and why."""

SQL = "spark.sql."
"""Prefix of the settings that a Spark Connect server may accept from a client."""


class SparkSetting(click.ParamType[tuple[str, str]]):
    """A setting of Spark as ``KEY=VALUE``; converts to a pair."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        key = key.strip()
        if not equals or not key.removeprefix("spark."):
            self.fail(f"{key!r} must be KEY=VALUE, such as spark.executor.memory=2g", param, ctx)
        if not key.startswith("spark."):  # spark-submit ignores it, with a warning in its log
            self.fail(f"{key!r} must start with spark. to be a setting of Spark", param, ctx)
        if key in _FIXES:
            self.fail(f"{key}: {_FIXES[key]}", param, ctx)
        return key, text


class PackageList(click.ParamType[str]):
    """Maven coordinates, separated by commas; checked, because Spark names an invalid one only in its log."""

    name = "packages"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = _parts(value)
        for name in names:
            if not _COORDINATE.fullmatch(name):
                self.fail(f"{name!r} must be GROUP:ARTIFACT:VERSION", param, ctx)
        if not names:
            self.fail("must be GROUP:ARTIFACT:VERSION[,...]", param, ctx)
        return ",".join(names)


class PythonFiles(click.ParamType[tuple[str, ...]]):
    """Python files and archives, separated by commas; checked, because Spark ignores others without a message."""

    name = "files"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = _parts(value)
        for name in names:
            if not name.lower().endswith(_PYTHON):
                fix = "copy the wheel to NAME.zip" if name.lower().endswith(".whl") else "use an archive"
                self.fail(f"{name!r}: Spark reads .py, .zip, and .egg files only; {fix}", param, ctx)
        if not names:
            self.fail("must be FILE[,...]", param, ctx)
        return tuple(names)


def is_remote(file: str) -> bool:
    """Return whether a file is a URL, which Spark reads."""
    return _REMOTE_FILE.match(file) is not None


def _parts(value: Any) -> list[str]:
    return [part.strip() for part in str(value).split(",") if part.strip()]
