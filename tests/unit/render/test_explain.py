"""The text of explain."""

from __future__ import annotations

from io import StringIO

import pytest

from kgroups.model.explain.findings import info, problem, warning
from kgroups.render.explain import Explained, write_explained
from kgroups.render.views import Tier
from tests.unit.model.explain.groups import facts


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
