"""One Prometheus for all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.integration.monitoring.prometheus import Prometheus, run_prometheus


@pytest.fixture(scope="session")
def prometheus(require_program: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with run_prometheus(require_program("prometheus"), tmp_path_factory.mktemp("prometheus")) as found:
        yield found
