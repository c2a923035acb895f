"""Faster start of Java for Spark: an archive of its classes (CDS), made once, halves the start of a session.

The Java of the first session on this machine writes the archive when it exits, after the end of the command; later
sessions map it into memory. An archive is valid for one Spark and one Java, so both are in its name; Java ignores an
archive that does not match.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

VARIABLE = "KGROUPS_SPARK_ARCHIVE"
"""``off`` disables the archive, which takes 150 MB of the user's cache directory."""

SETTLED = 30.0
"""Seconds without a write after which a file is regarded as complete."""

ABANDONED = 86_400.0
"""Seconds after which an empty file is regarded as abandoned."""

_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
_SHORT = "-XX:TieredStopAtLevel=1"
"""The second compiler does not pay off in a command that takes seconds."""


def java_options(cache: Path, *, short: bool) -> str:
    """Return the options of the driver's Java, for a ``short`` or a long-running command."""
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
    new = Path(f"{archive}.new")
    try:
        new.touch(exist_ok=False)  # one session writes it, the others do without
    except OSError:
        return ""
    return f"-XX:ArchiveClassesAtExit={new}"


def _adopt(archive: Path) -> None:
    """Rename a complete archive; delete one that was never written because its Java was killed."""
    new = Path(f"{archive}.new")
    try:
        found = new.stat()
        age = time.time() - found.st_mtime
        if found.st_size and age > SETTLED:
            new.rename(archive)
        elif age > ABANDONED:
            new.unlink()
    except OSError:
        return  # no such file, or another session was first


def _has_settings() -> bool:
    """Return whether Spark's configuration directory has files.

    It is then on the class path, and Java archives no classes if there is a directory on the class path.
    """
    import pyspark

    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    folder = Path(os.environ.get("SPARK_CONF_DIR") or f"{home}/conf")
    return folder.is_dir() and any(folder.iterdir())


def find_java() -> Path | None:
    """Return the ``java`` of JAVA_HOME, otherwise of PATH; ``None`` if there is none."""
    home = os.environ.get("JAVA_HOME")
    found = (home and shutil.which("java", path=f"{home}/bin")) or shutil.which("java")
    return Path(found).resolve() if found else None


def _fingerprint(java: Path) -> str:
    import pyspark

    release = java.parents[1] / "release"
    version = release.read_bytes() if release.exists() else str(java.stat().st_mtime_ns).encode()
    home = str(Path(pyspark.__file__).parent).encode()
    return hashlib.sha256(b"\0".join((pyspark.__version__.encode(), home, str(java).encode(), version))).hexdigest()[
        :16
    ]
