"""One cell of the fault table: run a command under a fault and check the expected result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.truth import Offset, Reported
from tests.integration.faults.faulty_cluster import VICTIM, FaultyCluster
from tests.integration.faults.retries import KEYS, Tried, attempt, fairly
from tests.integration.faults.table import COMMANDS, IN_CI, PENDING, TROUBLES, WORDS, Expected, cells, codes


def parameters(*, replicated: bool) -> list[object]:
    """The cells of one kind of cluster; those that do not run at each change are marked ``soak``."""
    return [
        pytest.param(*cell, marks=_marks_of(cell), id="-".join(cell))
        for cell in cells()
        if TROUBLES[cell[0]].replicated == replicated
    ]


def _marks_of(cell: tuple[str, str]) -> list[pytest.MarkDecorator]:
    marks = [] if cell in IN_CI else [pytest.mark.soak]
    if cell in PENDING:
        marks.append(pytest.mark.xfail(reason=PENDING[cell], strict=True))
    return marks


def check_cell(faulty_cluster: FaultyCluster, fault: str, command: str, tmp_path: Path) -> None:
    trouble, word = TROUBLES[fault], cells()[fault, command]
    expected = WORDS[word]

    def demands(tried: Tried) -> list[str]:
        found = [f"late: {tried.ran.seconds:.1f} s"] if tried.is_late(expected.seconds(tried.bounds)) else []
        if tried.ran.code not in codes(command, word):
            found.append(f"exit code {tried.ran.code}, not {sorted(codes(command, word))}")
        found += _not_applied(tried, expected) if command in KEYS else _too_little(tried, expected)
        if expected.named:
            found += _not_named(tried.reported, only_victim=fault != "all-black" and command != "exporter")
        return found

    tried = fairly(
        lambda bounds: attempt(
            faulty_cluster, command, trouble.begin(faulty_cluster, COMMANDS[command], bounds), tmp_path, bounds
        ),
        demands,
        trouble.healthy,
    )
    if tried.problems:
        pytest.fail("\n".join(tried.report), pytrace=False)


def _must(tried: Tried, expected: Expected) -> set[str]:
    """The groups of which everything must be there that does not need the victim's logs."""
    if expected.victim:
        return tried.wanted
    return tried.wanted & tried.truth.off(VICTIM) if expected.others else set()


def _too_little(tried: Tried, expected: Expected) -> list[str]:
    """What the table says must be there and is not, or is there and must not be."""
    must, output, truth = _must(tried, expected), tried.reported, tried.truth
    found = [f"missing: group {group}" for group in sorted(must - output.groups)]
    if output.offsets is not None:
        for group in sorted(must & output.groups):
            for pair, offset in truth.commits[group].items():
                row, end = output.offsets.get((group, pair)), truth.ends[pair]
                whole = Offset(offset, end, end - offset)
                known = expected.victim or truth.leaders[pair] != VICTIM
                if row != whole and (known or row is None or row.committed != offset):
                    found.append(f"missing: {group} {pair}: {row}, not {whole}")
    if expected.victim and (output.failures or "kgroups: broker" in output.err):
        found.append("something is named as missing")
    return found


def _not_applied(tried: Tried, expected: Expected) -> list[str]:
    """What the table says must be applied, and is not."""
    must, leaders = _must(tried, expected), tried.truth.leaders
    missing = [key for key in tried.before if key[0] in must and key not in tried.applied]
    if not expected.victim:
        # The leader reports the start and the end of a log.
        missing = [key for key in missing if len(key) < 3 or leaders[str(key[1]), int(str(key[2]))] != VICTIM]
    return [f"missing: {key} is not applied" for key in missing]


def _not_named(message: Reported, *, only_victim: bool) -> list[str]:
    if not (message.failures or message.err):
        return ["nothing is named"]
    if not only_victim:
        return []
    found = [f"broker {number} is blamed" for number in sorted(message.brokers - {VICTIM})]
    texts = message.err, str(message.failures)
    # Nobody can name a broker that the others know to be dead: what it led or coordinated is named.
    leaderless = any(word in text for word in ("no leader", "COORDINATOR_NOT_AVAILABLE") for text in texts)
    return found if message.brokers or leaderless else [*found, f"broker {VICTIM} is not named"]
