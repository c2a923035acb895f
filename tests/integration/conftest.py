"""Real brokers: the fixture ``cluster``, once for each Kafka version, ``secure``, once for each of two, and a last word
on which of them really ran."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import NamedTuple

import pytest

from kgroups.dropins.releases import VARIABLE as TOOLS_VARIABLE
from kgroups.errors import SandboxError, UsageError
from kgroups.sandbox import VERSIONS, Sandbox, kafka_version
from kgroups.sandbox.commits import make_commits
from kgroups.sandbox.jars import ensure_jars, ensure_mirror_jars
from kgroups.sandbox.java import find_java, need_compiler
from kgroups.sandbox.security import Secure, need_kerberos
from kgroups.sandbox.security import up as secure_up
from kgroups.sandbox.seed import seed_known_groups
from tests.integration.applications import Applications
from tests.integration.auth_methods import GROUPS, METHODS, JavaLists
from tests.integration.bad_config_runs import Misused, try_all
from tests.integration.bad_configs import misuses_of
from tests.integration.java_output import JavaTool
from tests.integration.known_cluster import KnownCluster
from tests.integration.mirrored_clusters import MirroredClusters
from tests.integration.record_oracle import VERSION as ORACLE_VERSION
from tests.integration.scratch_cluster import ScratchCluster
from tests.integration.share_groups import ShareGroups
from tests.integration.streams_groups import StreamsGroups
from tests.integration.transient_groups import TransientGroups
from tests.integration.versions import FOLLOWED, MAIN, limited

# Where the tests are about coordinators there must be more than one; elsewhere one starts three times as fast.
BROKERS = dict.fromkeys(VERSIONS, 1) | {MAIN: 3}

# Nobody harms their brokers: none is to be taken for dead, and no controller for lost, because a busy machine lets it
# stand for some seconds.
CALM = {"broker.session.timeout.ms": "60000", "controller.quorum.fetch.timeout.ms": "20000"}
CALM_BY_ZOOKEEPER = {"zookeeper.session.timeout.ms": "20000"}

# Which of them also run with TLS, SASL and ACLs: the two authorizers, KRaft and ZooKeeper, both generations of clients.
SECURE = ("2.8.2", MAIN)

# Who may log in there, with PLAIN, and do nothing until a test's ACLs say so.
USERS = ("ann", "bob")

VALUES_BY_VERSION: Mapping[str, Mapping[str, Sequence[str]]] = {
    "way": METHODS,
    "misuse": {version: misuses_of(version) for version in SECURE},
}
"""Test parameters whose values depend on the version."""

_ran: dict[str, float] = {}
_skipped: dict[str, str] = {}


class Kind(NamedTuple):
    """The version of a cluster, and whether it is secured."""

    version: str
    secure: bool = False

    def __str__(self) -> str:
        return f"{self.version}-secure" if self.secure else self.version


def calm(version: str) -> dict[str, str]:
    """Return the server settings of a version with which a busy machine makes no broker look dead."""
    return CALM_BY_ZOOKEEPER if kafka_version(version).zookeeper else CALM


def wanted_versions(config: pytest.Config) -> list[str]:
    """Return the versions of ``--kafka``: a comma-separated list, or ``all``."""
    option = config.getoption("--kafka")
    return list(VERSIONS) if option == "all" else [kafka_version(name.strip()).name for name in option.split(",")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # Session scope makes pytest run all tests of one cluster together, and each needs `running`: one is up at a time.
    wanted = limited(metafunc.definition, wanted_versions(metafunc.config))
    kinds = [Kind(version) for version in wanted] if "cluster" in metafunc.fixturenames else []
    if "secure" in metafunc.fixturenames:
        kinds = [Kind(version, secure=True) for version in wanted if version in SECURE]
    if "running" in metafunc.fixturenames:
        metafunc.parametrize("running", kinds, ids=str, indirect=True, scope="session")
    for name, table in VALUES_BY_VERSION.items():
        if name in metafunc.fixturenames:
            # Of their own scope, or they would be reason to go from cluster to cluster and back.
            metafunc.parametrize(name, dict.fromkeys(chain.from_iterable(table.values())))


@pytest.hookimpl(tryfirst=True)  # before pytest groups the tests by their cluster
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = filter(_is_in_its_table, items)
    for item in items:
        if isinstance(item, pytest.Function) and "integration" in item.path.parts:
            item.add_marker(pytest.mark.integration)
            item.add_marker(pytest.mark.shared if "running" in item.fixturenames else pytest.mark.alone)
    # Order: tests that need an empty cluster, then old logs, seeded groups, transient groups, and changes. Share and
    # streams groups, and what other clients leave behind, come last.
    last_first = (
        *("many_groups", "group_clients", "reconciling_group", "streams", "applications"),
        *("share_groups", "scratch_cluster", "transient_groups", "known_cluster", "aged_topics"),
    )
    items.sort(key=lambda item: [name in getattr(item, "fixturenames", ()) for name in last_first])


def _is_in_its_table(item: pytest.Item) -> bool:
    """Return whether the version has the authentication method or invalid configuration of a test."""
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    if "running" not in params:
        return True
    kind = params["running"]
    if not isinstance(kind, Kind):
        return False  # none of the versions that were asked for has such a cluster
    return all(params[name] in table[kind.version] for name, table in VALUES_BY_VERSION.items() if name in params)


@pytest.fixture(scope="session")
def running(request: pytest.FixtureRequest) -> Iterator[Sandbox | Secure]:
    """Start one cluster at a time for ``cluster`` and ``secure``."""
    kind: Kind = request.param
    needs_kafka(request.config, kind.version)
    began = time.monotonic()
    _down_of_dead_sessions()
    name = f"pytest-{os.getpid()}-{kind}"
    properties = calm(kind.version)
    if kind.secure:
        kerberos = _kerberos(request.config)
        starting: Sandbox | Secure = secure_up(
            kind.version, name=name, users=USERS, kerberos=kerberos, properties=properties
        )
    else:
        starting = Sandbox.up(kind.version, BROKERS[kind.version], name=name, properties=properties)
    with starting as started:
        _ran[str(kind)] = time.monotonic() - began
        yield started


@pytest.fixture(autouse=True)
def follow_tools(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the drop-ins follow the tools of the shared cluster's version, if they can; otherwise the newest."""
    kind = request.node.callspec.params.get("running") if hasattr(request.node, "callspec") else None
    if isinstance(kind, Kind) and kind.version in FOLLOWED:
        monkeypatch.setenv(TOOLS_VARIABLE, FOLLOWED[kind.version])


@pytest.fixture(scope="session")
def cluster(running: Sandbox) -> Sandbox:
    """A cluster shared by all tests: use your own topic and group names, and do not stop brokers."""
    return running


@pytest.fixture(scope="session")
def secure(running: Secure) -> Secure:
    """A shared broker with all listeners and some groups. Remove the ACLs that you add."""
    make_commits(running.sandbox, GROUPS)
    return running


@pytest.fixture(scope="session")
def java_lists(secure: Secure) -> JavaLists:
    """The groups that Kafka's own tool lists with each authentication method."""
    version, options = secure.sandbox.version.name, secure.sandbox.jvm_options
    return JavaLists(secure, JavaTool(version, options=options))


@pytest.fixture(scope="session")
def misuse_results(secure: Secure, tmp_path_factory: pytest.TempPathFactory) -> Misused:
    """The output of kgroups for every invalid configuration."""
    return try_all(secure, misuses_of(secure.sandbox.version.name), tmp_path_factory.mktemp("bad_configs"))


@pytest.fixture(scope="session")
def known_cluster(cluster: Sandbox) -> KnownCluster:
    """The shared cluster with the seeded groups, which do not change. Do not change them."""
    seed_known_groups(cluster, timeout=300)
    return KnownCluster(cluster)


@pytest.fixture(scope="session")
def scratch_cluster(cluster: Sandbox) -> ScratchCluster:
    """The shared cluster with topics and groups that tests may change and delete."""
    return ScratchCluster.made(cluster)


@pytest.fixture(scope="session")
def share_groups(cluster: Sandbox) -> ShareGroups:
    """The shared cluster with share groups, from Kafka 4.1 on."""
    if cluster.version.share_consumer is None:
        pytest.skip("share groups need Kafka 4.1")
    return ShareGroups.made(cluster)


@pytest.fixture(scope="session")
def streams(cluster: Sandbox, jdk: None) -> StreamsGroups:
    """The shared cluster with streams groups, if its version supports them."""
    if cluster.version.streams is None:
        pytest.skip(f"the sandbox does not support Kafka Streams {cluster.version.name}")
    return StreamsGroups.made(cluster)


@pytest.fixture(scope="session")
def applications(cluster: Sandbox, jdk: None) -> Applications:
    """The shared cluster with topics for classic applications of Kafka Streams."""
    return Applications.made(cluster)


@pytest.fixture(scope="session")
def transient_groups(known_cluster: KnownCluster) -> Iterator[TransientGroups]:
    """More groups next to the seeded ones, in states that these do not have. They do not change either."""
    with TransientGroups(known_cluster.sandbox) as found:
        yield found


@pytest.fixture(scope="session")
def require_kafka(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """A check for tests that start their own clusters: call it with the version first."""
    return partial(needs_kafka, request.config)


@pytest.fixture(scope="session")
def jdk(request: pytest.FixtureRequest, require_kafka: Callable[[str], None]) -> None:
    """Jars and a JDK, for tests that run Kafka's classes."""
    require_kafka(ORACLE_VERSION)
    try:
        need_compiler(find_java())
    except SandboxError as error:
        if request.config.getoption("--require-kafka"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def mirrored(request: pytest.FixtureRequest, jdk: None) -> Iterator[MirroredClusters]:
    """Two clusters and a MirrorMaker 2: use your own topics and groups; tests of one module share them."""
    try:
        ensure_mirror_jars(kafka_version(MAIN))
    except SandboxError as error:
        if request.config.getoption("--require-kafka"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
    with MirroredClusters.up(CALM) as found:
        yield found


def needs_kafka(config: pytest.Config, version: str) -> None:
    """Skip the test, or fail it with ``--require-kafka``, if this version is not available."""
    try:
        find_java()
        ensure_jars(kafka_version(version))
    except SandboxError as error:
        _skipped[version] = str(error)
        if config.getoption("--require-kafka"):
            pytest.fail(f"no Kafka {version}: {error}", pytrace=False)
        pytest.skip(f"no Kafka {version}: {error}")


def _kerberos(config: pytest.Config) -> bool:
    """Return whether a KDC is installed; with ``--require-programs`` it must be."""
    try:
        need_kerberos()
    except SandboxError as error:
        if config.getoption("--require-programs"):
            pytest.fail(str(error), pytrace=False)
        _skipped["with Kerberos"] = str(error)
        return False
    return True


def _down_of_dead_sessions() -> None:
    for name in Sandbox.names():
        prefix, _, rest = name.partition("-")
        pid, _, _ = rest.partition("-")
        if prefix == "pytest" and pid.isdigit() and not _exists(int(pid)):
            with suppress(SandboxError, UsageError):  # another session is stopping it
                Sandbox.load(name).down()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # A matrix of which half was skipped must not look green.
    if _ran or _skipped:
        ran = ", ".join(f"{version} (up in {seconds:.1f} s)" for version, seconds in _ran.items())
        terminalreporter.write_line(f"Kafka that ran: {ran or 'none'}")
    for version, why in _skipped.items():
        terminalreporter.write_line(f"Kafka {version} did not run: {why}")
