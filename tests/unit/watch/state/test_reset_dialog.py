"""The dialog of a reset: nothing is written unless the plan is shown and the name is typed."""

from __future__ import annotations

from kgroups.watch.state.reset_dialog import ResetDialog, Step
from kgroups.watch.state.watching import GroupKey

PLAN = ("GROUP  TOPIC  OLD-OFFSET  NEW-OFFSET  DISTANCE  NOTE", "orders t              5           9         4")


def planned(width: int) -> ResetDialog:
    dialog = ResetDialog(GroupKey("", "orders"))
    dialog.step = Step.PLAN
    dialog.show(PLAN, planned=True)
    dialog.shown_in = width
    return dialog


def typed(dialog: ResetDialog, name: str) -> None:
    for key in (*name, "enter"):
        dialog.press(key)


def test_plan_that_does_not_fit_is_not_written() -> None:
    dialog = planned(44)
    typed(dialog, "orders")
    assert dialog.step is Step.NAME and "must have 46 columns" in dialog.problem
    dialog.shown_in = 46
    dialog.press("enter")
    assert dialog.step is Step.RESULTS


def test_name_that_differs_is_named() -> None:
    dialog = planned(80)
    typed(dialog, "order")
    assert (dialog.step, dialog.name) == (Step.NAME, "") and "'order' is not the name of the group" in dialog.problem
    dialog.press("o")
    assert not dialog.problem
