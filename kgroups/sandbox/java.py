"""Find the Java that runs Kafka."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from kgroups.errors import SandboxError

MINIMUM = 17
_PATIENCE = 120.0  # seconds, on a busy machine
_FIX = f"install Java {MINIMUM} or newer (a JRE is sufficient), or set JAVA_HOME"


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
