"""A folder with the jars of a Kafka version: given by the user, kept from before, or fetched now.

Checked twice. On the way: Maven (strict) and Ivy compare what arrives with the repository's checksums. At every use:
each jar with the SHA-256 noted when it was fetched, because a cache in a home folder gets cleaned by halves. To hash
the largest set (56 MB) takes a tenth of a broker's start; to compare sizes would be quicker and miss a damaged jar.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from kgroups.errors import SandboxError
from kgroups.sandbox.fetch import fetch_by_ivy, fetch_by_maven, find_ivy, find_maven
from kgroups.sandbox.folders import jar_cache, locked
from kgroups.sandbox.java import find_java
from kgroups.sandbox.versions import KafkaVersion

JARS_VARIABLE = "KGROUPS_KAFKA_JARS"
_MANIFEST = "SHA256SUMS"  # the format of `sha256sum --check`


def ensure_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The folder; its ``*.jar`` are one class path. Fetches them where they are not yet on this machine.

    :raises SandboxError: when they are not, and cannot be fetched; the text names the ways out.
    """
    given = os.environ.get(JARS_VARIABLE)
    if given and any(Path(given, version.name).glob("*.jar")):
        return Path(given, version.name).absolute()
    folder = jar_cache() / version.name
    if _is_whole(folder):
        return folder
    with locked(folder.parent / ".lock"):
        if not _is_whole(folder):  # another process may have fetched them while this one waited
            _fetch(version, folder, progress)
    return folder


def jars_at_hand(version: KafkaVersion) -> bool:
    """Whether :func:`ensure_jars` would answer without a fetch."""
    given = os.environ.get(JARS_VARIABLE)
    return bool(given and any(Path(given, version.name).glob("*.jar"))) or _is_whole(jar_cache() / version.name)


def _fetch(version: KafkaVersion, folder: Path, progress: Callable[[str], None]) -> None:
    part = folder.with_name(f"{version.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a run that was killed: it holds the lock no more
    part.mkdir(parents=True)
    try:
        _fetch_into(part, version, progress)
        names = [jar.name for jar in part.glob("*.jar")]
        if not any(name.startswith("kafka_2.") for name in names):
            raise SandboxError(f"what was fetched for Kafka {version.name} has no broker in it: {len(names)} jars")
        _write_manifest(part)
        shutil.rmtree(folder, ignore_errors=True)  # a damaged one
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fetch_into(part: Path, version: KafkaVersion, progress: Callable[[str], None]) -> None:
    if maven := find_maven():
        progress(f"fetching Kafka {version.name} by Maven, once for this user")
        fetch_by_maven(maven, version.coordinates, part)
    elif ivy := find_ivy():
        progress(f"fetching Kafka {version.name} by Ivy, once for this user; this takes some minutes")
        fetch_by_ivy(find_java(), ivy, version.coordinates, part)
    else:
        raise SandboxError(
            f"Kafka {version.name} is not on this machine, and there is nothing to fetch it with: install Maven (mvn), "
            f"or pip install 'kgroups[pipeline]', or set {JARS_VARIABLE} to a folder with the jars in {version.name}/"
        )


def _write_manifest(folder: Path) -> None:
    lines = [f"{_sha256(jar)}  {jar.name}\n" for jar in sorted(folder.glob("*.jar"))]
    (folder / _MANIFEST).write_text("".join(lines))


def _is_whole(folder: Path) -> bool:
    try:
        noted = [line.split("  ", 1) for line in (folder / _MANIFEST).read_text().splitlines()]
        return bool(noted) and all(_sha256(folder / name) == digest for digest, name in noted)
    except (OSError, ValueError):
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
