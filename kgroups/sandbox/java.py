"""Find the Java that runs Kafka, and compile programs with it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from kgroups.class_archive import fingerprint, jar_facts
from kgroups.errors import SandboxError

from .folders import compiled_programs

MINIMUM = 17
_PATIENCE = 120.0  # seconds, on a busy machine
_SECONDS: Final = 300.0
_FIX = f"install Java {MINIMUM} or newer (a JRE is sufficient), or set JAVA_HOME"


def run(command: Sequence[str], *, stdin: str = "", timeout: float = _SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a program of Java to its end, whatever its exit code is.

    :raises SandboxError: if it does not end in ``timeout`` seconds.
    """
    try:
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise SandboxError(f"did not end in {timeout:g} seconds{busy()}: {' '.join(command)}") from None


def busy() -> str:
    """Return how busy this machine is, in brackets after a space; nothing if it is not."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    return f" (the machine is busy: a load of {load:.0f} on {processors} processors)" if load > 2 * processors else ""


def find_java() -> str:
    """Return the ``java`` of JAVA_HOME, else of PATH.

    :raises SandboxError: when there is none, it does not run, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        raise SandboxError(f"the sandbox requires Java, and there is no java on PATH: {_FIX}")
    version = _major(java)
    if version < MINIMUM:
        raise SandboxError(f"{java} is Java {version}; the sandbox requires {MINIMUM} or newer: {_FIX}")
    return java


@cache
def need_compiler(java: str) -> None:
    """Check that this Java can run source files.

    :raises SandboxError: when it has no compiler (a JRE).
    """
    try:
        done = subprocess.run([java, "--list-modules"], capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{java} does not run ({error}): {_FIX}") from None
    if "jdk.compiler@" not in done.stdout:
        raise SandboxError(f"{java} has no compiler: running Java source files requires a JDK, {MINIMUM} or newer")


@cache
def _major(java: str) -> int:
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_PATIENCE, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{java} does not run ({error}): {_FIX}") from None
    # "1.8.0_412" up to Java 8, "17.0.15" and "21" later.
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    if found is None:
        raise SandboxError(f"{java} does not report its version: {_FIX}")
    return int(found[1])


# For short runs, in which the second compiler does not pay off.
SHORT_RUN: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def compile_source(java: str, source: Path, jars: Sequence[Path]) -> Path:
    """Return a folder whose jar has the classes of a source file; compile them if it does not exist.

    :param jars: folders with the jars that the program uses.
    :raises SandboxError: when Java has no compiler, or the compiler reports an error.
    """
    facts = [source.read_bytes(), *(fingerprint(java, *jar_facts(folder)).encode() for folder in jars)]
    digest = hashlib.sha256(b"\0".join(facts)).hexdigest()[:16]
    folder = compiled_programs() / f"{source.stem}-{digest}"
    jar = folder / "program.jar"
    if not jar.exists():
        need_compiler(java)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            _compile(java, source, jars, Path(made, "classes"))
            # Another process may compile the same: the rename makes the jar visible only when it is complete.
            _pack(Path(made, "classes"), Path(made, "program")).rename(jar)
    return folder


def _compile(java: str, source: Path, jars: Sequence[Path], classes: Path) -> None:
    # Spelled out: only Java's launchers expand wildcards.
    path = os.pathsep.join(str(jar) for folder in jars for jar in sorted(folder.glob("*.jar")))
    command = [
        *(java, *SHORT_RUN, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-encoding", "UTF-8"),
        *("-cp", path, "-d", str(classes), str(source)),
    ]
    done = run(command)
    if done.returncode:
        raise SandboxError(f"{source.name} cannot be compiled: {(done.stdout + done.stderr).strip()[-2000:]}")


def _pack(classes: Path, jar: Path) -> Path:
    with zipfile.ZipFile(jar, "w") as file:
        for each in sorted(classes.rglob("*.class")):
            file.write(each, each.relative_to(classes))
    return jar
