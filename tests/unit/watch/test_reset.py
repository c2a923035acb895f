"""A reset from the screen of ``kgroups watch``: the plan and the results of ``kgroups reset-offsets``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.positions import PositionSource
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import UsageError
from kgroups.watch.group_page import explained
from kgroups.watch.reset import PlannedReset
from kgroups.watch.state.watching import GroupKey
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 90, ("orders", 1): 80})
    fake.state.group(
        "busy", 0, state="Stable", members=(FakeMember("m", {"orders": (0,)}),), commits={("orders", 0): 1}
    )


def reset(served: object, group: str, target: str) -> PlannedReset:
    settings = ClientSettings(parse_bootstrap(served.bootstrap))  # type: ignore[attr-defined]
    return PlannedReset(ConnectionOptions(settings, False), GroupKey("", group), target)


def test_plan_is_the_dry_run_of_reset_offsets_and_is_written_with_an_undo_file(
    run_cli: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    served = serve(fill=shop)
    target = "--shift-by -10 --topic orders:0 --force"
    planned = reset(served, "a", target)
    lines, can_write = planned.plan()
    _, out, _ = run_cli("reset-offsets", "a", *target.split(), "-b", served.bootstrap)
    assert can_write and lines[: len(out.splitlines())] == out.splitlines()
    assert "nothing was changed" in lines[-1] and not list(tmp_path.iterdir())
    shown = "\n".join(planned.execute())
    assert "applied" in shown
    assert served.state.groups["a"].commits["orders", 0].offset == 80
    assert served.state.groups["a"].commits["orders", 1] == 80
    (undo,) = tmp_path.iterdir()
    assert f"kgroups undo {undo.name} --execute" in shown
    code, _, _ = run_cli("undo", undo.name, "--execute", "--yes", "--force", "-b", served.bootstrap)
    assert code == 0 and served.state.groups["a"].commits["orders", 0].offset == 90


def test_group_outside_kafka_is_refused() -> None:
    settings = ClientSettings(parse_bootstrap("a:1"), positions=(PositionSource("a", "/ckpt"),))
    connection = ConnectionOptions(settings, False)
    with pytest.raises(UsageError, match="'a' is read-only"):
        PlannedReset(connection, GroupKey("", "a"), "--to-earliest --all-topics")
    (line,) = explained(connection, GroupKey("", "a"))
    assert line.startswith("explain is not available")


def test_group_with_members_is_rejected_in_the_plan(serve: Callable) -> None:
    lines, can_write = reset(serve(fill=shop), "busy", "--to-earliest --all-topics").plan()
    assert not can_write and "nothing to do" in lines[0] and "busy" in "\n".join(lines)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("--to-earliest", "no partitions selected"),
        ("--all-topics", "no target offset"),
        ("--sideways", "--sideways"),
        ("--topic 'orders", "quotation"),
        ("--from-file plan.csv", "use kgroups reset-offsets"),
        ("--to-offset x --all-topics", "not a whole number"),
    ],
)
def test_invalid_target_is_named(serve: Callable, target: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        reset(serve(), "a", target)


def test_failed_write_names_the_reason_and_restores_nothing(
    serve: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    served = serve(fill=shop)
    planned = reset(served, "a", "--to-earliest --all-topics --force")
    assert planned.plan()[1]
    served.state.groups["a"].members = (FakeMember("late", {"orders": (0,)}),)
    served.state.groups["a"].state = "Stable"
    shown = "\n".join(planned.execute())
    assert "late" in shown or "active members" in shown, shown
    assert planned.restore is None and not list(tmp_path.iterdir())
