"""``kgroups watch`` at a terminal, on real groups."""

from __future__ import annotations

import re

import pytest

from kgroups.sandbox.seed_data import STRANGE_NAME
from tests.integration.known_cluster import KnownCluster
from tests.integration.terminal import Typist, on_terminal
from tests.integration.versions import newest_only


@newest_only
@pytest.mark.parametrize("columns", [80, 200])
def test_watch_keys_sort_filter_and_quit(known_cluster: KnownCluster, columns: int) -> None:
    groups = ("ahead", "orders-range", "payments-lagging", STRANGE_NAME)
    with Typist(
        "watch", *groups, "--interval", "200ms", bootstrap=known_cluster.sandbox.bootstrap, columns=columns
    ) as person:
        person.wait_for("sort: status")
        person.wait_for("payments-lagging")
        person.type("N")
        person.wait_for("sort: group")
        person.type("/ahea")
        person.wait_for("filter (text): ahea_")
        person.type("\r")
        person.wait_for("1 of ")
        person.type("q")
        shown = person.end()
    assert shown.code == 0
    assert "\x1b[31m№" not in shown.raw
    assert ("OUT/S" in shown.text) == (columns == 200)


@newest_only
def test_watch_with_no_color_has_no_color(known_cluster: KnownCluster) -> None:
    words = ("watch", "ahead", "orders-range", "--count", "1")
    shown = on_terminal(*words, bootstrap=known_cluster.sandbox.bootstrap, columns=80, env={"NO_COLOR": "1"})
    assert shown.code == 0 and "orders-range" in shown.text, "the last table is drawn before the end"
    assert not re.findall(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8]|9[0-7])[0-9;]*m", shown.raw)


@newest_only
def test_watch_on_dumb_terminal_prints_one_table_after_another(known_cluster: KnownCluster) -> None:
    words = ("watch", "ahead", "--interval", "1s", "--count", "2")
    shown = on_terminal(*words, bootstrap=known_cluster.sandbox.bootstrap, columns=80, env={"TERM": "dumb"})
    assert (shown.code, "\x1b" in shown.raw) == (0, False)
    assert [line for line in shown.lines if "1 group: " in line][1:]
    assert max(map(len, shown.lines)) <= 80
