"""kgroups on a terminal, and with only stderr on one."""

from __future__ import annotations

import re

from kgroups.cli.frame.progress import DELAY
from kgroups.sandbox.seed_data import STRANGE_NAME
from tests.integration.asking import visible
from tests.integration.known_cluster import KnownCluster
from tests.integration.terminal import on_terminal
from tests.integration.versions import oldest_and_newest

pytestmark = oldest_and_newest

NARROW = 80


def test_table_fits_and_is_colored(known_cluster: KnownCluster) -> None:
    shown = on_terminal("list", "--state", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW)
    assert shown.code == 0
    assert max(map(len, shown.lines)) <= NARROW
    assert "\x1b[32mStable" in shown.raw
    assert {line.split()[0] for line in shown.lines} >= {"GROUP", "orders-range", "ahead"}
    assert any(line.startswith(visible(STRANGE_NAME)) for line in shown.lines)
    assert "\x1b[31m№" not in shown.raw


def test_no_color_disables_color(known_cluster: KnownCluster) -> None:
    """https://no-color.org is on colours alone; a dumb terminal gets no sequence at all."""
    colour = re.compile(r"\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-7])[0-9;]*m")
    shown = on_terminal(
        "list", "--state", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW, env={"NO_COLOR": "1"}
    )
    assert (shown.code, colour.findall(shown.raw)) == (0, [])
    shown = on_terminal(
        "list", "--state", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW, env={"TERM": "dumb"}
    )
    assert (shown.code, "\x1b" in shown.raw) == (0, False)


def test_ids_are_not_folded_and_columns_are_omitted(known_cluster: KnownCluster) -> None:
    (member,) = known_cluster.ask("describe", "orders-sticky", "--members", "-o", "json").items
    shown = on_terminal(
        "describe", "orders-sticky", "--members", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW
    )
    assert max(map(len, shown.lines)) <= NARROW
    assert shown.lines[0].startswith("orders-sticky: Stable, type Classic, 1 member, assignor sticky,")
    words = shown.text.split()
    assert {member["client_id"], member["host"]} <= set(words)
    assert member["consumer_id"] not in words
    assert "columns omitted to fit the terminal: CONSUMER-ID; use --wide" in " ".join(words)


def test_columns_of_wide_that_do_not_fit_follow_the_row(known_cluster: KnownCluster) -> None:
    shown = on_terminal("describe", "orders-range", "-w", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW)
    assert max(map(len, shown.lines)) <= NARROW
    rows = known_cluster.ask("describe", "orders-range", "-o", "json").items
    for row in rows:
        assert f"  CONSUMER-ID: {row['consumer_id']}" in [line.rstrip() for line in shown.lines]


def test_piped_output_is_plain_with_stderr_on_a_terminal(known_cluster: KnownCluster) -> None:
    shown = on_terminal("list", "--state", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW, piped=True)
    assert (shown.code, shown.screen, shown.out) == (0, [], known_cluster.ask("list", "--state").out)
    assert not shown.raw or shown.seconds > DELAY


def test_fast_command_shows_no_progress(known_cluster: KnownCluster) -> None:
    shown = on_terminal(
        "describe", "payments-empty", bootstrap=known_cluster.sandbox.bootstrap, columns=NARROW, piped=True
    )
    assert shown.lines == ["kgroups: note: group 'payments-empty' has no active members"]
    assert not shown.progress or shown.seconds > DELAY
