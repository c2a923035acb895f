"""The text of explain."""

from __future__ import annotations

from io import StringIO
from random import Random

import pytest

from kgroups.model.explain.facts import LagFacts
from kgroups.model.explain.findings import info, problem, warning
from kgroups.model.explain.summary import summarize
from kgroups.model.status import Known
from kgroups.model.verdicts.judge import judge
from kgroups.render.explain import Explained, write_explained
from kgroups.render.views import Tier
from tests.unit.model.explain.groups import facts
from tests.unit.model.verdicts.scenarios import stuck


def test_text_shows_problems_then_warnings_then_facts() -> None:
    findings = (info("a", "fact 1"), warning("b", "warning 1"), problem("c", "problem"), info("d", "fact 2"))
    out = StringIO()
    write_explained([Explained(facts(), findings)], "plain", out, Tier.BASE, headers=True)
    assert out.getvalue().splitlines()[1:] == ["- PROBLEM: problem", "- WARNING: warning 1", "- fact 1", "- fact 2"]


def test_problems_have_colors_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    def written(stream: StringIO) -> list[str]:
        write_explained(
            [Explained(facts(), (warning("b", "w"), problem("c", "p")))], "table", stream, Tier.BASE, headers=True
        )
        return stream.getvalue().splitlines()[1:3]

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert written(Terminal()) == ["- \x1b[1;31mPROBLEM:\x1b[0m p", "- \x1b[1;33mWARNING:\x1b[0m w"]
    assert written(StringIO()) == ["- PROBLEM: p", "- WARNING: w"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert written(Terminal()) == ["- PROBLEM: p", "- WARNING: w"]


def test_first_line_has_status_lag_worst_partition_and_what_to_do() -> None:
    partitions = tuple(stuck(Random(1))._replace(partition=at) for at in range(2))
    group = facts()._replace(lag=LagFacts(Known("Stable", 1, 50, 50), partitions))
    out = StringIO()
    write_explained([Explained(group, (), summary=summarize(group, ()))], "plain", out, Tier.BASE, headers=True)
    first, about, verdict, *_ = out.getvalue().splitlines()
    assert first.startswith(f"{group.group.group}: STUCK: lag 50, and it makes no progress; worst partition t-0 (lag ")
    assert f"next: {judge(partitions[0]).next}" in first
    assert about.startswith("a classic group, ")
    assert verdict.startswith("- PROBLEM: t-0, t-1: not committing: ")


def test_plumbing_is_shown_only_with_verbose() -> None:
    findings = (info("coordinator", "its coordinator is broker 0"), warning("coordinator", "the group is moving"))
    shown = {}
    for tier in (Tier.BASE, Tier.VERBOSE):
        write_explained([Explained(facts(), findings)], "plain", out := StringIO(), tier, headers=True)
        shown[tier] = out.getvalue()
    assert all("the group is moving" in text for text in shown.values())
    assert "broker 0" not in shown[Tier.BASE] and "broker 0" in shown[Tier.VERBOSE]
