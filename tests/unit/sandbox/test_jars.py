"""Fetching of jars, without a network: Maven is a shell script."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox import jars, kafka_version
from kgroups.sandbox.fetch import fetch_by_ivy
from kgroups.sandbox.jars import ensure_jars, ensure_streams_jars, jars_at_hand
from kgroups.sandbox.versions import FURTHER, VERSIONS

KAFKA = kafka_version("2.8.2")

MAVEN = r"""#!/bin/sh
for word; do
  case "$word" in
    -DoutputDirectory=*) out="${word#*=}" ;;
    */pom.xml) pom="$word" ;;
  esac
done
cp "$pom" "$0.pom"
echo run >> "$0.runs"
echo broker > "$out/kafka_2.13-2.8.2.jar"
echo client > "$out/kafka-clients-2.8.2.jar"
"""
STREAMS_MAVEN = MAVEN.replace("kafka_2.13-2.8.2", "kafka-streams-4.3.1")


JARS = {
    "2.8.2": {"kafka_2.13-2.8.2.jar": "broker\n", "kafka-clients-2.8.2.jar": "client\n"},
    "4.3.1-streams": {"kafka-streams-4.3.1.jar": "broker\n", "kafka-clients-2.8.2.jar": "client\n"},
}
"""What the Maven of these tests delivers, by set."""


def pin(folder: Path, jars: Mapping[str, str]) -> None:
    """Write the checksums of these jars as those that are expected."""
    lines = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in jars.items()]
    folder.with_name(f"{folder.name}.sha256").write_text("".join(lines))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pins = tmp_path / "checksums"
    pins.mkdir()
    for name, delivered in JARS.items():
        pin(pins / name, delivered)
    monkeypatch.setattr(jars, "CHECKSUMS", pins)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KGROUPS_KAFKA_JARS", raising=False)
    return tmp_path / "cache" / "kgroups" / "kafka" / "2.8.2"


def script(path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    return path


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return script(tmp_path / "bin" / "mvn", MAVEN, monkeypatch)


def runs(maven: Path) -> int:
    return len(Path(f"{maven}.runs").read_text().splitlines())


def test_jars_are_fetched_once(cache: Path, maven: Path) -> None:
    output: list[str] = []
    assert not jars_at_hand(KAFKA)
    assert ensure_jars(KAFKA, output.append) == cache
    assert ensure_jars(KAFKA, output.append) == cache
    assert jars_at_hand(KAFKA)
    assert (runs(maven), len(output)) == (1, 1)
    assert sorted(path.name for path in cache.iterdir()) == ["kafka-clients-2.8.2.jar", "kafka_2.13-2.8.2.jar"]
    pom = Path(f"{maven}.pom").read_text()
    assert "<artifactId>kafka_2.13</artifactId><version>2.8.2</version>" in pom
    assert "slf4j-log4j12" in pom


@pytest.mark.parametrize("harm", ["change", "remove"])
def test_jars_that_were_damaged_are_fetched_again(cache: Path, maven: Path, harm: str) -> None:
    jar = ensure_jars(KAFKA) / "kafka-clients-2.8.2.jar"
    if harm == "change":
        jar.write_text("CLIENT\n")
    else:
        jar.unlink()
    ensure_jars(KAFKA)
    assert jar.read_text() == "client\n"
    assert runs(maven) == 2


@pytest.mark.parametrize(
    ("jar", "text", "reason"),
    [
        ("kafka-clients-2.8.2.jar", "another\n", r"differs \(expected \w{64}, found \w{64}\)"),
        ("kafka-clients-2.8.2.jar", None, r"is unknown \(expected nothing, found \w{64}\)"),
        ("more.jar", "more", r"is missing \(expected \w{64}, found nothing\)"),
    ],
)
def test_jars_that_differ_from_pinned_checksums_are_rejected(
    cache: Path, maven: Path, jar: str, text: str | None, reason: str
) -> None:
    wanted = JARS["2.8.2"] | ({jar: text} if text else {})
    pin(jars.CHECKSUMS / "2.8.2", {name: each for name, each in wanted.items() if text or name != jar})
    with pytest.raises(SandboxError, match=f"differ from those that kgroups expects, and are not used: {jar} {reason}"):
        ensure_jars(KAFKA)
    assert not cache.exists()


def test_jar_checksums_are_pinned_for_every_version() -> None:
    for version in (*VERSIONS.values(), *FURTHER.values()):
        sets = [version.name]
        sets += [f"{version.name}-tools"] if version.tools else []
        sets += [f"{version.streams.version}-streams"] if version.streams else []
        sets += [f"{version.connect.version}-connect"] if version.connect else []
        sets += [f"{version.name}-mirror"] if version.mirror else []
        for name in sets:
            lines = (jars.CHECKSUMS / f"{name}.sha256").read_text().splitlines()
            assert all(re.fullmatch(r"[0-9a-f]{64}  [\w.+-]+\.jar", line) for line in lines)
            assert any(name.partition("-")[0] in line for line in lines)


def test_jars_of_a_killed_fetch_are_discarded(cache: Path, maven: Path) -> None:
    part = cache.with_name("2.8.2.part")
    part.mkdir(parents=True)
    (part / "half-1.0.jar").write_text("ha")
    assert not (ensure_jars(KAFKA) / "half-1.0.jar").exists()
    assert not part.exists()


def test_jars_in_given_folder_are_used(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tmp_path / "given" / "2.8.2"
    given.mkdir(parents=True)
    (given / "any.jar").touch()
    monkeypatch.setenv("KGROUPS_KAFKA_JARS", str(given.parent))
    assert ensure_jars(KAFKA) == given
    assert not cache.exists()


def test_jars_of_kafka_streams_have_their_own_folder(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven = script(tmp_path / "bin" / "mvn", STREAMS_MAVEN, monkeypatch)
    for _ in range(2):
        assert ensure_streams_jars(kafka_version("4.3.1")) == cache.with_name("4.3.1-streams")
    assert runs(maven) == 1
    pom = Path(f"{maven}.pom").read_text()
    assert pom.count("<dependency>") == 1
    assert "<version>4.3.1</version><exclusions><exclusion><groupId>*</groupId>" in pom


def test_jars_of_old_kafka_streams_are_unsupported(cache: Path, maven: Path) -> None:
    with pytest.raises(SandboxError, match=r"does not support Kafka Streams 2\.8\.2"):
        ensure_streams_jars(KAFKA)


def test_jars_maven_error_is_reported(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "bin" / "mvn", "#!/bin/sh\necho '[ERROR] no route'\nexit 1\n", monkeypatch)
    with pytest.raises(
        SandboxError, match=r"Maven could not fetch Kafka's jars; the end of its output:\n\[ERROR\] no route"
    ):
        ensure_jars(KAFKA)
    assert not cache.exists()
    assert not cache.with_name("2.8.2.part").exists()


def test_jars_without_the_broker_are_rejected(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "bin" / "mvn", "#!/bin/sh\n", monkeypatch)
    with pytest.raises(SandboxError, match=r"the 0 jars fetched for .* do not include the broker"):
        ensure_jars(KAFKA)
    assert not cache.exists()


def test_jars_without_maven_or_ivy_names_the_alternatives(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "find_maven", lambda: None)
    monkeypatch.setattr(jars, "find_ivy", lambda: None)
    with pytest.raises(SandboxError, match=r"Maven.*pip install 'kgroups\[pipeline\]'.*KGROUPS_KAFKA_JARS.*2\.8\.2/"):
        ensure_jars(KAFKA)


def test_ivy_receives_every_coordinate_and_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = script(tmp_path / "bin" / "java", '#!/bin/sh\necho "$@" > "$0.args"\ncp "$4" "$0.xml"\n', monkeypatch)
    fetch_by_ivy(str(java), Path("ivy.jar"), KAFKA.coordinates, tmp_path / "out")
    assert f"-retrieve {tmp_path}/out/[artifact]-[revision](-[classifier]).[ext]" in Path(f"{java}.args").read_text()
    module = Path(f"{java}.xml").read_text()
    assert 'org="org.apache.kafka" name="kafka_2.13" rev="2.8.2" conf="default->runtime,master"' in module
    assert 'name="slf4j-log4j12" rev="1.7.30"' in module


def test_ivy_fetches_single_jar_without_dependencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = script(tmp_path / "bin" / "java", '#!/bin/sh\ncp "$4" "$0.xml"\n', monkeypatch)
    streams = kafka_version("4.3.1").streams
    assert streams
    fetch_by_ivy(str(java), Path("ivy.jar"), [streams], tmp_path / "out")
    assert 'name="kafka-streams" rev="4.3.1" conf="default->master"' in Path(f"{java}.xml").read_text()
