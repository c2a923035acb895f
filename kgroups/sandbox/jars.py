"""A folder with the jars of a Kafka version: configured by the user, cached, or fetched.

Each set is compared with the SHA-256 checksums in ``checksums/``, when it is fetched and at every use: neither the
repository nor a cache in the home folder, which may be deleted in part, is trusted. Hashing the largest set (56 MB)
takes a tenth of a broker's start; comparing sizes would be faster but miss a corrupt jar.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import SandboxError

from .fetch import fetch_by_ivy, fetch_by_maven, find_ivy, find_maven
from .folders import jar_cache, locked
from .java import find_java
from .versions import Coordinate, KafkaVersion, kafka_version

JARS_VARIABLE = "KGROUPS_KAFKA_JARS"
CHECKSUMS = Path(__file__).with_name("checksums")
"""One file for each set, in the format of ``sha256sum --check``."""


class _Set(NamedTuple):
    """The jars of one class path, or of a part of one, in their own folder."""

    folder: str
    what: str
    coordinates: tuple[Coordinate, ...]
    proof: str
    """The start of the name of a jar that must be in the set."""
    content: str


def _broker(version: KafkaVersion) -> _Set:
    return _Set(version.name, f"Kafka {version.name}", version.coordinates, "kafka_2.", "broker")


def ensure_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the jars of one class path; fetch them if they are not on this machine.

    :raises SandboxError: when they cannot be fetched; the message names fixes.
    """
    return _ensure(_broker(version), progress)


def ensure_tools_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the jars of the tools and clients for this version's broker.

    :raises SandboxError: as :func:`ensure_jars`.
    """
    if not version.tools:
        return ensure_jars(version, progress)
    name = f"the tools of Kafka {version.name}"
    return _ensure(_Set(f"{version.name}-tools", name, version.tools, "kafka-tools", "tools"), progress)


def ensure_streams_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the jars that Kafka Streams needs in addition to those of :func:`ensure_jars`.

    :raises SandboxError: also when the sandbox does not support Kafka Streams of this version.
    """
    if version.streams is None:
        raise SandboxError(f"the sandbox does not support Kafka Streams {version.name}")
    name = f"Kafka Streams {version.name}"
    return _ensure(
        _Set(f"{version.name}-streams", name, (version.streams,), "kafka-streams", "Kafka Streams"), progress
    )


def ensure_connect_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the connectors of a Connect worker, which itself is in the jars of :func:`ensure_jars`.

    :raises SandboxError: also when the sandbox does not support Kafka Connect of this version.
    """
    if version.connect is None:
        raise SandboxError(f"the sandbox does not support Kafka Connect {version.name}")
    name = f"Kafka Connect {version.connect.version}"
    return _ensure(
        _Set(f"{version.connect.version}-connect", name, (version.connect,), "connect-file", "connector"), progress
    )


def ensure_worker_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the jars of a Connect worker: those of its connectors' version, which may be older.

    :raises SandboxError: as :func:`ensure_jars`.
    """
    return ensure_tools_jars(kafka_version(version.connect.version) if version.connect else version, progress)


def ensure_mirror_jars(version: KafkaVersion, progress: Callable[[str], None] = lambda line: None) -> Path:
    """Return the folder with the jars that MirrorMaker 2 needs in addition to those of :func:`ensure_jars`.

    :raises SandboxError: also when the sandbox does not support MirrorMaker 2 of this version.
    """
    if not version.mirror:
        raise SandboxError(f"the sandbox does not support MirrorMaker {version.name}")
    name = f"MirrorMaker {version.name}"
    return _ensure(_Set(f"{version.name}-mirror", name, version.mirror, "connect-mirror-4", "connector"), progress)


def _ensure(wanted: _Set, progress: Callable[[str], None]) -> Path:
    if given := _given(wanted):
        return given
    folder = jar_cache() / wanted.folder
    if _is_whole(wanted, folder):
        return folder
    with locked(folder.parent / ".lock"):
        if not _is_whole(wanted, folder):  # another process may have fetched them during the wait
            _fetch(wanted, folder, progress)
    return folder


def jars_at_hand(version: KafkaVersion) -> bool:
    """Return whether :func:`ensure_jars` would not have to fetch."""
    wanted = _broker(version)
    return bool(_given(wanted)) or _is_whole(wanted, jar_cache() / wanted.folder)


def _given(wanted: _Set) -> Path | None:
    given = os.environ.get(JARS_VARIABLE)
    return Path(given, wanted.folder).absolute() if given and any(Path(given, wanted.folder).glob("*.jar")) else None


def _fetch(wanted: _Set, folder: Path, progress: Callable[[str], None]) -> None:
    part = folder.with_name(f"{wanted.folder}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a killed run, which no longer holds the lock
    part.mkdir(parents=True)
    try:
        _fetch_into(part, wanted, progress)
        names = [jar.name for jar in part.glob("*.jar")]
        if not any(name.startswith(wanted.proof) for name in names):
            raise SandboxError(f"the {len(names)} jars fetched for {wanted.what} do not include the {wanted.content}")
        if reasons := _differences(wanted, part):
            raise SandboxError(
                f"the jars fetched for {wanted.what} differ from those that kgroups expects, and are not used: "
                + "; ".join(reasons)
            )
        shutil.rmtree(folder, ignore_errors=True)  # a corrupt one
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fetch_into(part: Path, wanted: _Set, progress: Callable[[str], None]) -> None:
    if maven := find_maven():
        progress(f"fetching {wanted.what} with Maven, once for this user")
        fetch_by_maven(maven, wanted.coordinates, part)
    elif ivy := find_ivy():
        progress(f"fetching {wanted.what} with Ivy, once for this user; this takes some minutes")
        fetch_by_ivy(find_java(), ivy, wanted.coordinates, part)
    else:
        raise SandboxError(
            f"{wanted.what} is not on this machine, and cannot be fetched: install Maven (mvn), "
            f"or pip install 'kgroups[pipeline]' (in a clone: '.[pipeline]'), or set {JARS_VARIABLE} to a folder "
            f"with the jars in {wanted.folder}/"
        )


def _is_whole(wanted: _Set, folder: Path) -> bool:
    return not _differences(wanted, folder)


def _differences(wanted: _Set, folder: Path) -> list[str]:
    """Return how the jars in a folder differ from the pinned set, one text per jar."""
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
