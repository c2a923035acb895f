from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import click
import pytest

from kgroups.cli.main import main
from kgroups.errors import SandboxError
from kgroups.model.groups import GroupState
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.command import command
from kgroups.sandbox.kinds import KINDS, seed_kinds
from kgroups.sandbox.versions import VERSIONS, kafka_version


def test_seed_option_accepts_all_kinds() -> None:
    (option,) = (each for each in command.commands["seed"].params if each.name == "kinds")
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == tuple(KINDS)


@pytest.mark.parametrize("version", VERSIONS)
def test_seed_unsupported_kind_is_rejected_before_anything_is_created(version: str) -> None:
    sandbox = cast(Sandbox, SimpleNamespace(version=kafka_version(version)))
    lacking = [name for name, kind in KINDS.items() if not kind.runs_on(sandbox.version)]
    assert bool(lacking) == (version not in ("4.3.1", "4.4.0"))
    if lacking:
        with pytest.raises(SandboxError, match=f"Kafka {version} does not support {lacking[0]}"):
            seed_kinds(sandbox, tuple(KINDS))


def test_seed_groups_without_members_are_empty() -> None:
    states = {group.name: group.state for kind in KINDS.values() for group in kind.groups}
    assert states["parcels-audit"] == GroupState.EMPTY
    assert states["connect-a"] == GroupState.STABLE


@pytest.mark.parametrize(("flag", "value"), [("--groups", "10"), ("--partitions", "3")])
def test_seed_kind_conflicts_with_load_options(capsys: Any, flag: str, value: str) -> None:
    assert main(["sandbox", "seed", "--kind", "share", flag, value]) == 2
    assert f"{flag} cannot be combined with --kind" in capsys.readouterr().err
