"""The text of explain."""

from __future__ import annotations

from io import StringIO

from kgroups.model.explain.findings import info, problem, warning
from kgroups.render.explain import Explained, write_explained
from kgroups.render.views import Tier
from tests.unit.model.explain.groups import facts


def test_text_shows_problems_then_warnings_then_facts() -> None:
    findings = (info("a", "fact 1"), warning("b", "warning 1"), problem("c", "problem"), info("d", "fact 2"))
    out = StringIO()
    write_explained([Explained(facts(), findings)], "plain", out, Tier.BASE, headers=True)
    assert out.getvalue().splitlines()[1:] == ["- PROBLEM: problem", "- WARNING: warning 1", "- fact 1", "- fact 2"]
