"""A folder with the jars of a Kafka version: given by the user, kept from before, or fetched now.

Each set is compared with the SHA-256 checksums in ``checksums/``, when it is fetched and at every use: neither the
repository nor a cache in a home folder, which gets cleaned by halves, is trusted. To hash the largest set (56 MB) takes
a tenth of a broker's start; to compare sizes would be quicker and miss a damaged jar.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import SandboxError
from kgroups.sandbox.fetch import fetch_by_ivy, fetch_by_maven, find_ivy, find_maven
from kgroups.sandbox.folders import jar_cache, locked
from kgroups.sandbox.java import find_java
from kgroups.sandbox.versions import Coordinate, KafkaVersion, tools_version

JARS_VARIABLE = "KGROUPS_KAFKA_JARS"
CHECKSUMS = Path(__file__).with_name("checksums")
"""One file for each set, in the format of ``sha256sum --check``."""


class _Set(NamedTuple):
    """Jars that are one class path, or the rest of one, in a folder of their own."""

    folder: str
    what: str
    coordinates: tuple[Coordinate, ...]
    proof: str
    """How the name of one of them begins."""
    content: str


def _broker(version: KafkaVersion) -> _Set:
    return _Set(version.name, f"Kafka {version.name}", version.coordinates, "kafka_2.", "broker")


def ensure_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The folder; its ``*.jar`` are one class path. Fetches them where they are not yet on this machine.

    :raises SandboxError: when they are not, and cannot be fetched; the text names the ways out.
    """
    return _ensure(_broker(version), progress)


def ensure_tools_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the jars of the tools and clients that run beside this version's broker.

    :raises SandboxError: as :func:`ensure_jars`.
    """
    return ensure_jars(tools_version(version), progress)


def ensure_streams_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The same for what an application of Kafka Streams needs beside the jars of :func:`ensure_jars`.

    :raises SandboxError: also where the sandbox runs none of this version.
    """
    version = tools_version(version)
    if version.streams is None:
        raise SandboxError(f"the sandbox runs no application of Kafka Streams {version.name}")
    name = f"Kafka Streams {version.name}"
    return _ensure(
        _Set(f"{version.name}-streams", name, (version.streams,), "kafka-streams", "Kafka Streams"), progress
    )


def ensure_connect_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """The same for the connectors of a Connect worker; the worker itself is among the jars of :func:`ensure_jars`.

    :raises SandboxError: also where the sandbox runs none of this version.
    """
    version = tools_version(version)
    if version.connect is None:
        raise SandboxError(f"the sandbox runs no workers of Kafka Connect {version.name}")
    name = f"Kafka Connect {version.name}"
    return _ensure(_Set(f"{version.name}-connect", name, (version.connect,), "connect-file", "connector"), progress)


def _ensure(wanted: _Set, progress: Callable[[str], None]) -> Path:
    if given := _given(wanted):
        return given
    folder = jar_cache() / wanted.folder
    if _is_whole(wanted, folder):
        return folder
    with locked(folder.parent / ".lock"):
        if not _is_whole(wanted, folder):  # another process may have fetched them while this one waited
            _fetch(wanted, folder, progress)
    return folder


def jars_at_hand(version: KafkaVersion) -> bool:
    """Whether :func:`ensure_jars` would answer without a fetch."""
    wanted = _broker(version)
    return bool(_given(wanted)) or _is_whole(wanted, jar_cache() / wanted.folder)


def _given(wanted: _Set) -> Path | None:
    given = os.environ.get(JARS_VARIABLE)
    return Path(given, wanted.folder).absolute() if given and any(Path(given, wanted.folder).glob("*.jar")) else None


def _fetch(wanted: _Set, folder: Path, progress: Callable[[str], None]) -> None:
    part = folder.with_name(f"{wanted.folder}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a run that was killed: it holds the lock no more
    part.mkdir(parents=True)
    try:
        _fetch_into(part, wanted, progress)
        names = [jar.name for jar in part.glob("*.jar")]
        if not any(name.startswith(wanted.proof) for name in names):
            raise SandboxError(f"what was fetched for {wanted.what} has no {wanted.content} in it: {len(names)} jars")
        if reasons := _differences(wanted, part):
            told = "; ".join(reasons)
            raise SandboxError(
                f"the jars fetched for {wanted.what} are not those that kgroups expects, and are not used: {told}"
            )
        shutil.rmtree(folder, ignore_errors=True)  # a damaged one
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fetch_into(part: Path, wanted: _Set, progress: Callable[[str], None]) -> None:
    if maven := find_maven():
        progress(f"fetching {wanted.what} by Maven, once for this user")
        fetch_by_maven(maven, wanted.coordinates, part)
    elif ivy := find_ivy():
        progress(f"fetching {wanted.what} by Ivy, once for this user; this takes some minutes")
        fetch_by_ivy(find_java(), ivy, wanted.coordinates, part)
    else:
        raise SandboxError(
            f"{wanted.what} is not on this machine, and there is nothing to fetch it with: install Maven (mvn), "
            f"or pip install 'kgroups[pipeline]', or set {JARS_VARIABLE} to a folder with the jars in {wanted.folder}/"
        )


def _is_whole(wanted: _Set, folder: Path) -> bool:
    return not _differences(wanted, folder)


def _differences(wanted: _Set, folder: Path) -> list[str]:
    """Return how the jars in a folder differ from the pinned set; one text for each jar that does."""
    pinned = _pinned(wanted)
    found = {jar.name: _sha256(jar) for jar in sorted(folder.glob("*.jar"))}
    return [
        f"{name} {'is missing' if name not in found else 'is unknown' if name not in pinned else 'differs'}"
        f" (expected {pinned.get(name, 'nothing')}, found {found.get(name, 'nothing')})"
        for name in sorted(pinned.keys() | found.keys())
        if pinned.get(name) != found.get(name)
    ]


def _pinned(wanted: _Set) -> dict[str, str]:
    lines = (CHECKSUMS / f"{wanted.folder}.sha256").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
