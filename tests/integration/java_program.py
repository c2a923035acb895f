"""Commands that run Java source files of tests with Kafka's jars."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kgroups.class_archive import ClassArchive
from kgroups.sandbox.java import SHORT_RUN, compile_source, find_java


def java_command(source: Path, jars: Sequence[Path], *args: str) -> list[str]:
    """Return the command that runs the class of a source file, which has its name.

    :raises SandboxError: when Java is not available, or the source file cannot be compiled.
    """
    java = find_java()
    path = os.pathsep.join(f"{folder}/*" for folder in (*jars, compile_source(java, source, jars)))
    options = ("-Xmx256m", *SHORT_RUN, *ClassArchive(java, jars[0]).use(), "-Djava.awt.headless=true")
    return [java, *options, "-cp", path, source.stem, *args]
