"""Options, Hypothesis profiles, a fixed environment, and golden texts for all tests."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
VERSIONS = ("1.1.1", "2.5.1", "2.8.2", "3.9.1", "4.3.1", "4.4.0")

if str(HERE.parent) not in sys.path:  # so that `tests.fakes` is found from wherever pytest was started
    sys.path.insert(0, str(HERE.parent))

# A run in the background, or under nohup, ignores signals, and so would every process that a test starts and signals.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

_SLOW_MACHINES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", derandomize=True, max_examples=50, database=None, **_SLOW_MACHINES)
settings.register_profile("deep", max_examples=2000, **_SLOW_MACHINES)
settings.load_profile(os.environ.get("KGROUPS_HYPOTHESIS", "quick"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kgroups")
    group.addoption("--kafka", default="all", help="Kafka versions to run against: a comma list, or all")
    group.addoption("--require-kafka", action="store_true", help="fail, not skip, where a Kafka cannot be started")
    group.addoption(
        "--require-programs",
        action="store_true",
        help="the same of shells, tmux, chromium, prometheus and a Kerberos KDC",
    )
    group.addoption("--soak", action="store_true", help="also run the tests marked soak, which take long")
    group.addoption("--seed", type=int, default=None, metavar="N", help="replay one random schedule of faults")
    group.addoption("--bootstrap", default=None, metavar="HOST:PORT", help="run against this cluster instead")
    group.addoption("--commits", type=int, default=100_000, help="real commits that are compared with what Kafka reads")
    group.addoption("--kills", type=int, default=1, help="how often the collector is killed, and goes on")
    group.addoption("--quiet-minutes", type=float, default=30, help="how long no alert may fire for a healthy cluster")
    group.addoption("--rebuild-golden", action="store_true", help="rewrite tests/golden/*.expected; such tests skip")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    if config.getoption("--soak"):
        return
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="takes long: runs with --soak (make soak)"))


def kafka_versions(config: pytest.Config) -> tuple[str, ...]:
    """The versions that ``--kafka`` asks for."""
    text: str = config.getoption("--kafka")
    wanted = VERSIONS if text == "all" else tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [version for version in wanted if version not in VERSIONS]
    if unknown or not wanted:
        raise pytest.UsageError(f"--kafka: {text!r} is not among {', '.join(VERSIONS)}, all")
    return wanted


def pytest_report_header(config: pytest.Config) -> list[str]:
    required = ", required" if config.getoption("--require-kafka") else ""
    java = shutil.which("java") or "none: integration tests cannot run"
    cluster = config.getoption("--bootstrap") or f"{', '.join(kafka_versions(config))} (integration tests{required})"
    return [f"kafka: {cluster}", f"java: {java}", f"hypothesis: {os.environ.get('KGROUPS_HYPOTHESIS', 'quick')}"]


@pytest.fixture(autouse=True)
def _fixed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a fixed width, time zone, and color mode, and remove the user's settings."""
    for name in os.environ:
        # Where the jars are, and which Java, is the machine's business.
        if name.startswith("KGROUPS_") and name not in ("KGROUPS_HYPOTHESIS", "KGROUPS_KAFKA_JARS"):
            monkeypatch.delenv(name)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"COLUMNS": "100", "TZ": "UTC", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def virtual_time() -> Iterator[None]:
    """Virtual time for tests whose client and fake brokers share one event loop: waits take no time."""
    from tests.fakes.clock import virtual_clock

    with virtual_clock():
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with ``tests/golden/<name>.expected``; with ``--rebuild-golden``, write it and skip."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.expected"
        if request.config.getoption("--rebuild-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            pytest.skip(f"{path.relative_to(HERE)} was rewritten")
        assert path.exists(), f"{path.relative_to(HERE)} is missing: run pytest with --rebuild-golden, and look at it"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local session for all tests; starting one takes ten seconds."""
    from kgroups.history.java_options import VARIABLE
    from kgroups.history.session import FEW_ROWS, open_session

    log = tmp_path_factory.mktemp("spark") / "spark.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "off")  # writing an archive costs more than it saves where each clone has its own
        session = open_session(master="local[2]", log=str(log), short=True, settings=FEW_ROWS)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def require_program(request: pytest.FixtureRequest) -> Callable[..., str]:
    """A check for tests that need an installed program: call it with its possible names, for the path of the first."""

    def check(*programs: str) -> str:
        found = next(filter(None, map(shutil.which, programs)), None)
        if found is None:
            output = f"{' or '.join(programs)} is not installed"
            pytest.fail(output, pytrace=False) if request.config.getoption("--require-programs") else pytest.skip(
                output
            )
        return found

    return check
