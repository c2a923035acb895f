"""``kgroups watch`` in tmux, with real keys, on real brokers: one of them is stopped, killed, and started again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from tests.integration.conftest import wanted_versions
from tests.integration.known_cluster import KnownCluster
from tests.integration.tmux import Tmux
from tests.integration.versions import MAIN, newest_only

SIZES = [(80, 24), (120, 40), (200, 50)]


@pytest.fixture(autouse=True)
def programs(require_program: Callable[[str], None]) -> None:
    require_program("tmux")


@pytest.fixture(scope="module")
def faulty(request: pytest.FixtureRequest, require_kafka: Callable[[str], None]) -> Iterator[Sandbox]:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    lasting = {"broker.session.timeout.ms": "12000"}  # the broker stays the coordinator of its groups for a while
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-keys", properties=lasting) as sandbox:
        seed_load(sandbox, Load(groups=90, partitions=6, topics=3))
        yield sandbox


def walk(terminal: Tmux, bootstrap: str) -> None:
    """Scroll, sort, filter, open a group, read the keys, and quit."""
    terminal.start("watch", "-b", bootstrap, "--interval", "1s")
    terminal.wait_for("STATUS↓", "Enter: open")
    terminal.press("End")
    terminal.wait_for(" of ", without="sort: status  1-1 of")
    terminal.press("Home", "N")
    terminal.wait_for("GROUP↑")
    terminal.press("r")
    terminal.wait_for("GROUP↓")
    terminal.type("\x1b[<0;3;2M\x1b[<0;3;2m")  # a click on the header
    terminal.wait_for("GROUP↑")
    terminal.type("/~(")
    terminal.press("Enter")
    terminal.wait_for("filter (invalid): ~(_", "'(' is not a valid RE2 regular expression")
    terminal.press("C-u")
    terminal.type("pay*-lag*")
    terminal.press("Enter")
    terminal.wait_for("filter (glob): pay*-lag*", "1-1 of 1", "payments-lagging", without="orders-range")
    terminal.press("e")
    terminal.wait_for("a classic group, Stable, 1 member", "payments-lagging: payments-0: ", "PgDn: more  1-")
    terminal.press("G")
    terminal.wait_for("payments-lagging: payments-2: ")
    terminal.press("Escape")
    terminal.wait_for("1-1 of 1")
    terminal.press("Enter")
    shown = ("TIME-LAG", "HEADROOM", "Time lag and headroom: read", "o state changes since")
    terminal.wait_for("Group payments-lagging", *shown)
    terminal.press("?")
    terminal.wait_for("plan a reset of the group")
    terminal.press("Escape")
    terminal.wait_for("Group payments-lagging")
    terminal.press("Escape")
    terminal.wait_for("filter (glob)")
    terminal.press("Escape")
    terminal.wait_for("orders-range", without="filter (")
    terminal.press("q")
    terminal.wait_for("done:", without="sort:")


@newest_only
def test_keys_at_120x40(known_cluster: KnownCluster) -> None:
    with Tmux(120, 40) as terminal:
        walk(terminal, known_cluster.sandbox.bootstrap)


@newest_only
def test_keys_of_several_clusters(known_cluster: KnownCluster, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    servers = {"eu": known_cluster.sandbox.bootstrap, "dead": "127.0.0.1:1"}
    config.write_text("".join(f'[profiles.{name}]\nbootstrap = "{each}"\n' for name, each in servers.items()))
    with Tmux(120, 40, KGROUPS_CONFIG=str(config)) as terminal:
        terminal.start("watch", "--all-profiles", "--interval", "1s")
        terminal.wait_for("CLUSTER", "STATUS↓", "b: clusters", "cluster dead: no bootstrap server responded")
        terminal.press("<")
        terminal.wait_for("CLUSTER↑")
        terminal.type("/payments-lag")
        terminal.press("Enter")
        terminal.wait_for("1-1 of 1", "payments-lagging")
        terminal.press("Enter")
        terminal.wait_for("Group payments-lagging of cluster eu", "Time lag and headroom: read")
        terminal.press("e")
        terminal.wait_for("a classic group, Stable, 1 member", "payments-lagging: payments-0: ")
        terminal.press("Escape")
        terminal.wait_for("Group payments-lagging of cluster eu")
        terminal.press("Escape")
        terminal.wait_for("filter (text): payments-lag")
        terminal.press("b")
        terminal.wait_for("UNKNOWN-LAG", "dead", "Esc: back")
        terminal.press("q")
        terminal.wait_for("b: clusters")
        terminal.press("q")
        terminal.wait_for("done:", without="sort:")


@newest_only
@pytest.mark.soak
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_keys_at_all_sizes(known_cluster: KnownCluster, width: int, height: int) -> None:
    with Tmux(width, height) as terminal:
        walk(terminal, known_cluster.sandbox.bootstrap)


@pytest.mark.soak
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_rows_of_a_broker_that_is_stopped_or_killed_are_stale_until_it_is_back(
    faulty: Sandbox, width: int, height: int
) -> None:
    with Tmux(width, height) as terminal, ExitStack() as stack:
        terminal.start("watch", "-b", faulty.bootstrap, "--interval", "1s", "--broker-timeout", "2s")
        terminal.wait_for("90 groups: ", "sort: status", without="stale")
        terminal.press("N")
        for harm, back in ((faulty.pause, faulty.resume), (faulty.kill, faulty.restart)):
            harm(2)
            stack.callback(back, 2)
            screen = terminal.wait_for("(stale)", "s ago)", "broker 2", "90 groups: ")
            assert "Traceback" not in screen
            rows = [line for line in screen.splitlines() if line.lstrip("> ").startswith(("stable-", "empty-"))]
            assert len(rows) > height - 8, screen
            stale = [line for line in rows if "(stale)" in line]
            assert all(" ago)" in line or " - " in line or "≥" in line for line in stale), screen
            stack.close()
            terminal.wait_for("90 groups: ", "GROUP↑", without="(stale)")
        terminal.press("q")
        terminal.wait_for("done:", without="sort:")


@pytest.mark.soak
def test_dumb_terminal_prints_one_table_after_another(known_cluster: KnownCluster) -> None:
    with Tmux(80, 24) as terminal:
        terminal.type("export TERM=dumb\n")
        terminal.start("watch", "ahead", "-b", known_cluster.sandbox.bootstrap, "--interval", "1s", "--count", "2")
        screen = terminal.wait_for("cannot be redrawn", "kgroups watch  1 group: 1 critical; ", "#2")
        assert "#1" in screen and "\x1b" not in screen
