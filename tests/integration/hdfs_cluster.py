"""A real HDFS with one NameNode and one DataNode, in one JVM."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgroups.sandbox.fetch import fetch_by_ivy, fetch_by_maven, find_ivy, find_maven
from kgroups.sandbox.folders import jar_cache, locked
from kgroups.sandbox.java import find_java
from kgroups.sandbox.versions import Coordinate

_PROGRAM = Path(__file__).with_name("HdfsCluster.java")
_CLUSTER = Coordinate("org.apache.hadoop", "hadoop-client-minicluster", "3.5.0")
_CHECKSUMS = {
    "commons-logging-1.3.0.jar": "66d3c980470b99b0c511dad3dfc0ae7b265ec1fb144e96bc0253a8a175fd34d9",
    "hadoop-client-api-3.5.0.jar": "cc59446ec9ebaceae56fdb8d8c21477766dc5d426325642151c796bec5c4e6b7",
    "hadoop-client-minicluster-3.5.0.jar": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c",
    "hadoop-client-runtime-3.5.0.jar": "b7db3e60c5df1cd37c2995b3e0142e57487260706834e5325bbe0a5e683eedf1",
    "jsr305-3.0.2.jar": "766ad2a0783f2687962c8ad74ceecc38a28b9f72a2d085ee438b7813e928d0c7",
    "slf4j-api-1.7.36.jar": "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    "snappy-java-1.1.10.4.jar": "55b30c94e5c4cc2d4b6976916098d0678a8a6cc7427fa8c875621bd94e731ac8",
}


@contextmanager
def hdfs_cluster(folder: Path) -> Iterator[str]:
    """Start HDFS with its data in a folder; yield its address, ``host:port`` of WebHDFS."""
    log = folder / "hdfs.log"
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    classes = ":".join(map(str, _jars()))
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [find_java(), *options, "-cp", classes, str(_PROGRAM), str(folder / "data")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdin and process.stdout
    try:
        lines = (line for line in process.stdout if line.startswith("port "))
        line = next(lines, None)
        assert line, f"HDFS did not start:\n{log.read_text()[-2000:]}"
        yield f"127.0.0.1:{line.split()[1]}"
    finally:
        process.kill()  # its data is deleted with the folder
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _jars() -> list[Path]:
    folder = jar_cache().parent / f"hdfs-{_CLUSTER.version}"
    jars = [folder / name for name in _CHECKSUMS]
    with locked(folder.parent / ".hdfs-lock"):
        if not all(map(_is_whole, jars)):
            folder.mkdir(parents=True, exist_ok=True)
            if maven := find_maven():
                fetch_by_maven(maven, [_CLUSTER], folder)
            else:
                ivy = find_ivy()
                assert ivy, "PySpark contains Ivy"
                fetch_by_ivy(find_java(), ivy, [_CLUSTER], folder)
            assert all(map(_is_whole, jars)), f"the jars in {folder} are not those of HDFS {_CLUSTER.version}"
    return jars


def _is_whole(jar: Path) -> bool:
    return jar.exists() and hashlib.sha256(jar.read_bytes()).hexdigest() == _CHECKSUMS[jar.name]
