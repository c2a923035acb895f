"""Start Java sooner: archives of the classes that a program loads (class data sharing), made once per Java and jars.

Java maps an archive into memory, ignores one that does not fit, and starts without one that cannot be made.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

# By default, Java writes to standard output that an archive does not fit. What ends a JVM is not part of this log.
QUIET: Final = "-Xlog:disable"

SETTLED = 30.0
"""Seconds without a write after which a file is regarded as complete."""

ABANDONED = 86_400.0
"""Seconds after which an empty file is regarded as abandoned."""

_RECORDED: Final = ".classes"


def class_archives() -> Path:
    """Return the folder of archives of Kafka's classes; it can be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "kgroups", "classes")


def find_java() -> Path | None:
    """Return the ``java`` of JAVA_HOME, otherwise of PATH; ``None`` if there is none."""
    home = os.environ.get("JAVA_HOME")
    found = (home and shutil.which("java", path=f"{home}/bin")) or shutil.which("java")
    return Path(found).resolve() if found else None


def fingerprint(java: str | Path, *facts: str) -> str:
    """Return a hash of what Java compares with an archive, and ignores the archive if it differs."""
    program = Path(java).resolve()
    release = program.parents[1] / "release"
    version = release.read_bytes() if release.exists() else str(program.stat().st_mtime_ns).encode()
    return hashlib.sha256("\0".join((str(program), *facts)).encode() + version).hexdigest()[:16]


def jar_facts(jars: Path) -> Iterator[str]:
    """Yield the facts about a folder of jars."""
    yield str(jars)
    for jar in sorted(jars.glob("*.jar")):
        found = jar.stat()
        yield f"{jar.name} {found.st_size} {found.st_mtime_ns}"


def archive_at_exit(archive: Path) -> str:
    """Return the option of a JVM that uses an archive, or that writes it when it exits; empty for neither.

    The first JVM writes it, after the end of the command; others do without until it is complete.
    """
    if not archive.exists():
        _adopt(archive)
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive}"
    new = Path(f"{archive}.new")
    try:
        new.touch(exist_ok=False)
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
        return  # no such file, or another JVM was first


class ClassArchive:
    """The archive for one Java and one folder of jars, made in the background from records of programs.

    A program that starts without an archive records which classes it loads. Saves a third of the CPU time of a broker's
    start.
    """

    def __init__(self, java: str, jars: Path) -> None:
        """Name the archive of this Java and these jars, which may not exist."""
        self._java = java
        self._jars = jars
        self.file = class_archives() / f"{jars.name}-{fingerprint(java, *jar_facts(jars))}.jsa"
        self._failed = self.file.with_suffix(".failed")

    def use(self) -> tuple[str, ...]:
        """Return the JVM options that use the archive; none if it does not exist."""
        return (f"-XX:SharedArchiveFile={self.file}", QUIET) if self.file.exists() else ()

    def use_or_record(self, folder: Path, program: str) -> tuple[str, ...]:
        """Return the JVM options that use the archive, or that record in ``folder`` which classes a program loads."""
        if self.file.exists() or self._failed.exists():
            return self.use()
        return ("-XX:+IgnoreUnrecognizedVMOptions", f"-XX:DumpLoadedClassList={folder / program}{_RECORDED}")

    def make(self, folder: Path) -> None:
        """Start to make the archive from the records in ``folder``, unless it exists or another process makes it.

        Return at once. Without an archive everything works, so errors are not reported.
        """
        with suppress(OSError):
            records = sorted(folder.glob(f"*{_RECORDED}"))
            if records and not self.file.exists():
                self.file.parent.mkdir(parents=True, exist_ok=True)
                self._make_from(records)

    def _make_from(self, records: Iterable[Path]) -> None:
        with self.file.with_suffix(".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            if self.file.exists():
                return
            classes = self.file.with_suffix(".classes")
            classes.write_text("".join(dict.fromkeys(line for each in records for line in _lines(each))))
            # The processes inherit the lock, and the kernel releases it when the last of them ends.
            subprocess.run(
                ["/bin/sh", "-c", f"({self._script(classes)}) &"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[lock.fileno()],
                start_new_session=True,
                check=False,
            )

    def _script(self, classes: Path) -> str:
        part = self.file.with_suffix(".part")
        dump = [
            *("nice", self._java, "-Xmx512m", "-XX:+UseG1GC", "-Xshare:dump"),
            *(f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={part}"),
            *("-cp", f"{self._jars}/*"),
        ]
        words = {name: shlex.quote(str(path)) for name, path in (("part", part), ("classes", classes))}
        archive, failed = shlex.quote(str(self.file)), shlex.quote(str(self._failed))
        return (
            f"{shlex.join(dump)} && mv -f {words['part']} {archive} || : > {failed}; "
            f"rm -f {words['part']} {words['classes']}"
        )


def _lines(record: Path) -> list[str]:
    """Return the complete lines: a broker may be writing the last one."""
    return [line for line in record.read_text(errors="replace").splitlines(keepends=True) if line.endswith("\n")]
