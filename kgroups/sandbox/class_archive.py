"""Start Kafka sooner: an archive of the classes that a broker loads (class data sharing), once per Java and jars.

A sandbox that starts without an archive records which classes its programs load. When it is ready, a process in the
background makes the archive, which later programs of the same jars map into memory. That saves a third of the CPU
time of a broker's start. Java ignores an archive that does not fit, and kgroups starts without one that cannot be made.
"""

from __future__ import annotations

import fcntl
import hashlib
import shlex
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from .folders import class_archives

# By default, Java writes to standard output that an archive does not fit. What ends a JVM is not part of this log.
_QUIET: Final = "-Xlog:disable"
_RECORDED: Final = ".classes"


class ClassArchive:
    """The archive for one Java and one folder of jars."""

    def __init__(self, java: str, jars: Path) -> None:
        """Name the archive of this Java and these jars, which may not exist."""
        self._java = java
        self._jars = jars
        self.file = class_archives() / f"{jars.name}-{fingerprint(java, jars)}.jsa"
        self._failed = self.file.with_suffix(".failed")

    def use(self) -> tuple[str, ...]:
        """Return the JVM options that use the archive; none if it does not exist."""
        return (f"-XX:SharedArchiveFile={self.file}", _QUIET) if self.file.exists() else ()

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


def fingerprint(java: str, jars: Path) -> str:
    """Return a hash of what Java compares with an archive, and ignores the archive if it differs."""
    program = Path(java).resolve()
    release = program.parents[1] / "release"
    version = release.read_bytes() if release.exists() else str(program.stat().st_mtime_ns).encode()
    facts = [str(program), str(jars), *(_stat(jar) for jar in sorted(jars.glob("*.jar")))]
    return hashlib.sha256("\0".join(facts).encode() + version).hexdigest()[:16]


def _stat(jar: Path) -> str:
    found = jar.stat()
    return f"{jar.name} {found.st_size} {found.st_mtime_ns}"
