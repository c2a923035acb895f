"""Fetch a version's jars and their dependencies into a folder with Maven, or with the Ivy that PySpark contains.

Repository and proxy come from the user's Maven or Ivy settings.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import quoteattr

from kgroups.errors import SandboxError

from .versions import Coordinate

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
"""Pinned, because its downloads are executed."""

_TIMEOUT = 1800  # seconds; Ivy fetches one file after the other


def find_maven() -> str | None:
    return shutil.which("mvn")


def find_ivy() -> Path | None:
    """Return PySpark's Ivy, without importing PySpark."""
    spec = find_spec("pyspark")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for jar in sorted(Path(folder, "jars").glob("ivy-*.jar")):
            return jar
    return None


def fetch_by_maven(maven: str, coordinates: Sequence[Coordinate], target: Path) -> None:
    """Fetch jars with Maven.

    :raises SandboxError: when Maven fails.
    """
    with tempfile.TemporaryDirectory(prefix="kgroups-maven-") as scratch:
        pom = Path(scratch, "pom.xml")
        pom.write_text(_pom(coordinates))
        # Without --strict-checksums, Maven only warns about a corrupt download.
        goal = [f"{_PLUGIN}:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={target}"]
        _run([maven, "--quiet", "--batch-mode", "--strict-checksums", "--file", str(pom), *goal], "Maven")


def fetch_by_ivy(java: str, ivy: Path, coordinates: Sequence[Coordinate], target: Path) -> None:
    """Fetch jars with Ivy.

    :raises SandboxError: when Ivy fails.
    """
    with tempfile.TemporaryDirectory(prefix="kgroups-ivy-") as scratch:
        module = Path(scratch, "ivy.xml")
        module.write_text(_ivy_module(coordinates))
        retrieve = f"{target}/[artifact]-[revision](-[classifier]).[ext]"
        _run([java, "-jar", str(ivy), "-ivy", str(module), "-confs", "default", "-retrieve", retrieve], "Ivy")


_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


def _pom(coordinates: Sequence[Coordinate]) -> str:
    dependencies = "".join(
        f"<dependency><groupId>{c.group}</groupId><artifactId>{c.artifact}</artifactId><version>{c.version}</version>"
        f"{_ALONE if c.alone else ''}</dependency>"
        for c in coordinates
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>kgroups</groupId><artifactId>sandbox</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def _ivy_module(coordinates: Sequence[Coordinate]) -> str:
    # "master" is the artifact itself, "runtime" its runtime dependencies.
    # Forced: as with Maven, the versions given here win over newer ones that dependencies ask for.
    dependencies = "".join(
        f"<dependency org={quoteattr(c.group)} name={quoteattr(c.artifact)} rev={quoteattr(c.version)}"
        f' conf="default->{"master" if c.alone else "runtime,master"}" force="true"/>'
        for c in coordinates
    )
    return (
        '<ivy-module version="2.0"><info organisation="kgroups" module="sandbox"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _run(command: Sequence[str], tool: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise SandboxError(f"{tool} did not fetch Kafka's jars in {_TIMEOUT // 60} minutes") from None
    except OSError as error:
        raise SandboxError(f"{tool} does not run: {error}") from None
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip().splitlines()
        raise SandboxError("\n".join([f"{tool} could not fetch Kafka's jars; the end of its output:", *output[-8:]]))
