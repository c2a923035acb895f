"""Real brokers: the fixture ``cluster``, once for each Kafka version, and a last word on which versions really ran."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox import DEFAULT_VERSION, VERSIONS, Sandbox, kafka_version
from kgroups.sandbox.jars import ensure_jars
from kgroups.sandbox.java import find_java
from kgroups.sandbox.seed import seed_world
from tests.integration.ground import Ground
from tests.integration.known_world import World
from tests.integration.record_oracle import VERSION as ORACLE_VERSION
from tests.integration.record_oracle import need_compiler
from tests.integration.visitors import Visitors

# Where the tests are about coordinators there must be more than one; elsewhere one starts three times as fast.
BROKERS = dict.fromkeys(VERSIONS, 1) | {DEFAULT_VERSION: 3}

_ran: dict[str, float] = {}
_skipped: dict[str, str] = {}


def wanted_versions(config: pytest.Config) -> list[str]:
    """Of ``--kafka``: a comma list, or ``all``."""
    option = config.getoption("--kafka")
    return list(VERSIONS) if option == "all" else [kafka_version(name.strip()).name for name in option.split(",")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cluster" in metafunc.fixturenames:
        # Session scope makes pytest run all tests of one version together, so that one cluster is up at a time.
        metafunc.parametrize("cluster", wanted_versions(metafunc.config), indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)  # before pytest groups the tests by their cluster
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "integration" in item.path.parts:
            item.add_marker(pytest.mark.integration)
    # Of one cluster's tests those first that want it empty, then old logs, the known world, visitors; acts come last.
    guests = ("ground", "visitors", "world", "aged")
    items.sort(key=lambda item: [name in getattr(item, "fixturenames", ()) for name in guests])


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Shared by all tests of a session: take names of your own for topics and groups, and harm no broker."""
    version: str = request.param
    needs_kafka(request.config, version)
    began = time.monotonic()
    _down_of_dead_sessions()
    with Sandbox.up(version, BROKERS[version], name=f"pytest-{os.getpid()}-{version}") as sandbox:
        _ran[version] = time.monotonic() - began
        yield sandbox


@pytest.fixture(scope="session")
def world(cluster: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> World:
    """The same cluster with the known world in it; it stands still, and is to be left as it is."""
    seed_world(cluster)
    return World(cluster, tmp_path_factory.mktemp("java"))


@pytest.fixture(scope="session")
def ground(cluster: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """The same cluster, with topics and groups that acts may move and delete."""
    return Ground.made(cluster, tmp_path_factory.mktemp("java"))


@pytest.fixture(scope="session")
def visitors(world: World) -> Iterator[Visitors]:
    """Groups beside the known ones, in states that these do not have; also still."""
    with Visitors(world.sandbox) as guests:
        yield guests


@pytest.fixture(scope="session")
def kafka_at_hand(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """For tests that start clusters of their own: call it with the version first."""
    return partial(needs_kafka, request.config)


@pytest.fixture(scope="session")
def jdk(request: pytest.FixtureRequest, kafka_at_hand: Callable[[str], None]) -> None:
    """For tests that ask Kafka's classes: its jars, and a Java that runs source files."""
    kafka_at_hand(ORACLE_VERSION)
    try:
        need_compiler()
    except SandboxError as error:
        if request.config.getoption("--require-kafka"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def needs_kafka(config: pytest.Config, version: str) -> None:
    """Skip the test, or fail it under ``--require-kafka``, where this version cannot be had."""
    try:
        find_java()
        ensure_jars(kafka_version(version))
    except SandboxError as error:
        _skipped[version] = str(error)
        if config.getoption("--require-kafka"):
            pytest.fail(f"no Kafka {version}: {error}", pytrace=False)
        pytest.skip(f"no Kafka {version}: {error}")


def _down_of_dead_sessions() -> None:
    for name in Sandbox.names():
        prefix, _, rest = name.partition("-")
        pid, _, _ = rest.partition("-")
        if prefix == "pytest" and pid.isdigit() and not _exists(int(pid)):
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
