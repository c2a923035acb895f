"""The options of the Java that Spark starts; an archive of its classes halves the start of a session.

An archive is valid for one Spark and one Java, so both are in its name.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyspark

from kgroups.class_archive import QUIET, archive_at_exit, find_java, fingerprint

VARIABLE = "KGROUPS_SPARK_ARCHIVE"
"""``off`` disables the archive, which takes 150 MB of the user's cache directory."""

_SHORT = "-XX:TieredStopAtLevel=1"
"""The second compiler does not pay off in a command that takes seconds."""


def java_options(cache: Path, *, short: bool) -> str:
    """Return the options of the driver's Java, for a ``short`` or a long-running command."""
    quiet = f"{QUIET} -Xlog:all=error:stderr"
    return " ".join(filter(None, (quiet, _SHORT if short else "", _archive_option(cache))))


def _archive_option(cache: Path) -> str:
    java = find_java()
    if os.environ.get(VARIABLE, "").lower() == "off" or java is None:
        return ""
    folder = Path(pyspark.__file__).parent
    if _has_settings(folder):
        return ""
    return archive_at_exit(cache / f"spark-{fingerprint(java, pyspark.__version__, str(folder))}.jsa")


def _has_settings(spark: Path) -> bool:
    """Return whether Spark's configuration directory has files.

    It is then on the class path, and Java archives no classes if there is a directory on the class path.
    """
    home = os.environ.get("SPARK_HOME") or str(spark)
    folder = Path(os.environ.get("SPARK_CONF_DIR") or f"{home}/conf")
    return folder.is_dir() and any(folder.iterdir())
