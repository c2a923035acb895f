"""Options of the live source."""

from __future__ import annotations

import pytest

from kgroups.errors import UsageError
from kgroups.model.offsets import Isolation
from kgroups.pipeline.live.options import OPTIONS, LiveOptions, parse_options
from kgroups.pipeline.live.tables import GROUPS, OFFSETS
from kgroups.pipeline.options import Options


def parsed(**options: str) -> LiveOptions:
    return parse_options(Options("kgroups-live", {"bootstrap.servers": "secret-host:9092", **options}, OPTIONS))


def test_live_options_have_defaults() -> None:
    found = parsed()
    assert found.settings.bootstrap == (("secret-host", 9092),)
    assert (found.settings.timeout, found.settings.broker_timeout) == (30, 10)
    assert found[1:] == (OFFSETS, Isolation.READ_UNCOMMITTED, True, None)


def test_live_options_are_all_parsed() -> None:
    found = parsed(
        **{"table": "groups", "timeout": "2.5", "broker.timeout": "1", "isolation": "read_committed"},
        failOnError="FALSE",
        pushdown="false",
        groups="a, b,a",
    )
    assert (found.settings.timeout, found.settings.broker_timeout) == (2.5, 1)
    assert found[1:] == (GROUPS, Isolation.READ_COMMITTED, False, ("a", "b"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bootstrap.servers", ""),
        ("bootstrap.servers", "host:none"),
        ("table", "records"),
        ("timeout", "0"),
        ("timeout", "-1"),
        ("timeout", "nan"),
        ("timeout", "inf"),
        ("broker.timeout", "soon"),
        ("broker.timeout", ""),
        ("isolation", "serializable"),
        ("failOnError", "maybe"),
        ("pushdown", "1"),
    ],
)
def test_live_options_that_are_invalid_are_named(name: str, value: str) -> None:
    named = rf"option {name}: '{value}' (is not|must be) "
    with pytest.raises(UsageError, match=r"bootstrap.server" if "boot" in name else named):
        parsed(**{name: value})


def test_live_options_repr_hides_settings() -> None:
    assert repr(parsed()) == "LiveOptions(offsets)"
