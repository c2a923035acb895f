"""Plans and results of operations in each format."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgroups.model.outcome import Outcome
from kgroups.model.views.operation_rows import DeleteOffsetRow, DeleteRow, RemoveMemberRow, ResetRow
from kgroups.render.act_views import DELETE, DELETE_OFFSETS, REMOVE_MEMBERS, RESET_OFFSETS
from kgroups.render.views import View

Render = Callable[..., str]
Golden = Callable[[str, str], None]

PLAN = (
    ResetRow("orders", "t0", 10, 7, 40, 33, "requested offset 9 is below log start"),
    ResetRow("orders", "t0", 2, 70, 40, -30, None),
    ResetRow("billing", "t1", 0, None, 40, None, "no record after that time"),
    ResetRow("billing", "t1", 1, 12, None, None, None),
)
TOLD = (("applied", None), ("applied", None), ("failed", "the group has members"), ("unknown", "no answer"))
DONE = tuple(row._replace(result=result, error=error) for row, (result, error) in zip(PLAN, TOLD, strict=True))
OTHERS = {
    DELETE: (
        DeleteRow("orders", "Empty", "Classic", "consumer", 12, "applied"),
        DeleteRow("東京", "Dead", None, "", 0, "failed", "the group does not exist"),
    ),
    DELETE_OFFSETS: (DeleteOffsetRow("orders", "t0", 2, 70), DeleteOffsetRow("orders", "t0", 11, 3)),
    REMOVE_MEMBERS: (
        RemoveMemberRow("orders", "app-1-01df", None, "/10.0.0.1", "app-1", 3, "applied"),
        RemoveMemberRow("orders", "app-2-9e20", "app-2", "/10.0.0.2", "app-2", None, "applied"),
    ),
}


@pytest.mark.parametrize("fmt", ["plain", "table", "json", "csv", "github"])
def test_reset_plan_matches_golden(fmt: str, render: Render, golden: Golden) -> None:
    golden(f"render/reset-offsets.{fmt}", render(Outcome(PLAN), RESET_OFFSETS, fmt=fmt))


@pytest.mark.parametrize("fmt", ["plain", "jsonl"])
def test_reset_result_matches_golden(fmt: str, render: Render, golden: Golden) -> None:
    golden(f"render/reset-offsets-done.{fmt}", render(Outcome(DONE), RESET_OFFSETS, fmt=fmt))


@pytest.mark.parametrize("view", OTHERS, ids=lambda view: view.name)
def test_other_operations_match_golden(view: View, render: Render, golden: Golden) -> None:
    golden(f"render/{view.name}.plain", render(Outcome(OTHERS[view]), view, fmt="plain"))


def test_dry_run_has_no_result_column(render: Render) -> None:
    assert "RESULT" not in render(Outcome(PLAN), RESET_OFFSETS, fmt="plain")
    assert "NOTE" not in render(Outcome(PLAN[1:2]), RESET_OFFSETS, fmt="plain")
