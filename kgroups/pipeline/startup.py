"""Makes Java start sooner for Spark: an archive of its classes, made once, halves the start of a session.

The first session on this machine tells its Java to write the archive when it ends, which it does by itself, after the
command is over; later sessions map it into memory. It is as good as the Spark and the Java that it was made with, so
that both are in its name; where it does not fit, Java goes on without it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

VARIABLE = "KGROUPS_SPARK_ARCHIVE"
"""Set to ``off``, nothing is archived: the file takes 150 MB of the user's cache folder."""

SETTLED = 30.0
"""Seconds after which a file that nobody writes to is taken as whole."""

FORGOTTEN = 86_400.0
"""Seconds after which nobody will write it any more."""

_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
_SHORT = "-XX:TieredStopAtLevel=1"
"""Code of the second compiler comes too late to pay for itself in a command of seconds."""


def java_options(cache: Path, *, short: bool) -> str:
    """What to give to the driver's Java, for a ``short`` command or for one that stays."""
    return " ".join(filter(None, (_QUIET, _SHORT if short else "", _archive_option(cache))))


def _archive_option(cache: Path) -> str:
    java = find_java()
    if os.environ.get(VARIABLE, "").lower() == "off" or java is None or _has_settings():
        return ""
    archive = cache / f"spark-{_fingerprint(java)}.jsa"
    if not archive.exists():
        _adopt(archive)
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive}"
    mine = Path(f"{archive}.new")
    try:
        mine.touch(exist_ok=False)  # one session makes it, the others do without meanwhile
    except OSError:
        return ""
    return f"-XX:ArchiveClassesAtExit={mine}"


def _adopt(archive: Path) -> None:
    """A finished archive gets its name. One that was begun and never written is forgotten: its Java was killed."""
    made = Path(f"{archive}.new")
    try:
        found = made.stat()
        age = time.time() - found.st_mtime
        if found.st_size and age > SETTLED:
            made.rename(archive)
        elif age > FORGOTTEN:
            made.unlink()
    except OSError:
        return  # there is none, or another session was first


def _has_settings() -> bool:
    """Whether Spark's folder of settings holds any: it is on the class path, and of folders Java archives nothing."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    folder = Path(os.environ.get("SPARK_CONF_DIR") or f"{home}/conf")
    return folder.is_dir() and any(folder.iterdir())


def find_java() -> Path | None:
    """The ``java`` of JAVA_HOME, else of PATH; None where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = (home and shutil.which("java", path=f"{home}/bin")) or shutil.which("java")
    return Path(found).resolve() if found else None


def _fingerprint(java: Path) -> str:
    import pyspark

    release = java.parents[1] / "release"
    told = release.read_bytes() if release.exists() else str(java.stat().st_mtime_ns).encode()
    where = str(Path(pyspark.__file__).parent).encode()
    return hashlib.sha256(b"\0".join((pyspark.__version__.encode(), where, str(java).encode(), told))).hexdigest()[:16]
