"""Fixtures of the fault tests; ``make soak`` runs the whole table, other runs a part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import needs_kafka, wanted_versions
from tests.integration.faults.retries import attempts, unfair
from tests.integration.versions import MAIN

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what -m does not name
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.faults)
            if config.getoption("--soak"):
                item.add_marker(pytest.mark.soak)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if attempts:
        command, share = max(attempts, key=lambda each: each[1])
        late = sum(1 for _, share in attempts if share > 1.1)
        terminalreporter.write_line(
            f"faults: {len(attempts)} commands; the slowest, {command}, took {share:.2f} of its --timeout; {late} took "
            f"more than 1.1 of it"
        )
        terminalreporter.write_line(f"faults: {len(unfair)} commands were tried again because of the machine")
        for each in unfair:
            terminalreporter.write_line(f"  {each}")


@pytest.fixture(scope="session")
def needs_newest(request: pytest.FixtureRequest) -> None:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    needs_kafka(request.config, MAIN)
