from __future__ import annotations

from typing import Any

import pytest

from kgroups.admin.routing.witness import Witness
from kgroups.model.cluster import Node
from kgroups.model.operations.journal import Journal
from kgroups.protocol.error_codes import Code, kafka_error

NODE = Node(1, "one", 9092)


def watched() -> tuple[Journal[str, str], Witness[str, str, Any]]:
    journal: Journal[str, str] = Journal()
    keys = {"g": ("g-0", "g-1")}
    witness: Witness[str, str, Any] = Witness(
        journal, keys.__getitem__, lambda node, group, reply: {f"{group}-0": reply}
    )
    witness.sending(("g",))
    return journal, witness


@pytest.mark.parametrize(
    ("code", "in_doubt"),
    [
        (Code.not_coordinator, False),
        (Code.coordinator_load_in_progress, False),
        (Code.coordinator_not_available, True),
        (Code.request_timed_out, True),
    ],
)
def test_resent_change_is_in_doubt_only_after_ambiguous_errors(code: Code, in_doubt: bool) -> None:
    journal, witness = watched()
    witness.answered(NODE, "g", kafka_error(code))
    assert [journal.in_doubt(key) for key in ("g-0", "g-1")] == [in_doubt] * 2 and not journal.results


def test_witness_enters_results() -> None:
    journal, witness = watched()
    witness.answered(NODE, "g", "done")
    assert journal.results == {"g-0": "done"} and journal.in_doubt("g-1")
