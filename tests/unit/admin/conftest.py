from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_time_passes(virtual_time: None) -> None:
    """Use virtual time in all tests of this folder."""
