"""Time in which a process is stopped, as on a machine that sleeps, is not time without a response."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any
from unittest.mock import Mock

import pytest

from kgroups.errors import BrokerUnavailable, ClusterUnreachable, HistoryError
from kgroups.history import suspended
from kgroups.history.jobs.collect import Plan, _Collector
from kgroups.history.suspended import Suspensions
from tests.unit.history.test_reader import SETTINGS

SILENT = """
import time
from unittest.mock import Mock
from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable
from kgroups.history.extract import reader
from kgroups.history.extract.ranges import Range
from kgroups.history.suspended import Suspensions, elapsed

def consume(*_):
    time.sleep(0.2)
    return []

reader.make_client = lambda *_: Mock(consume=consume)
with Suspensions() as suspensions:
    began = elapsed()
    print("began", flush=True)
    try:
        list(reader.read(ClientSettings((("b", 1),), timeout=4), [Range(0, 0, 2)]))
    except BrokerUnavailable:
        print(suspensions.since(began), flush=True)
"""


def test_stopped_process_waits_for_the_rest_of_its_time() -> None:
    with subprocess.Popen([sys.executable, "-c", SILENT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(7)
        process.send_signal(signal.SIGCONT)
        continued = time.monotonic()
        seconds = float(process.stdout.readline())
        # At most one look of the four seconds passed before; a time limit that counts the stop ends at once.
        assert time.monotonic() - continued > 2
        assert seconds > 6
    assert process.returncode == 0


def test_suspension_is_known_until_a_later_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(suspended, "elapsed", lambda: now[0])
    watch = Suspensions()
    began = now[0]
    now[0] += 4
    assert watch.since(began) == 0
    now[0] += 300
    assert watch.since(began) == 300
    now[0] += 1
    assert (watch.since(began), watch.since(now[0])) == (300, 0)


@pytest.mark.parametrize(("error", "is_suspended"), [
    (BrokerUnavailable("reading: nothing came"), True), (ClusterUnreachable("no response"), True),
    (BrokerUnavailable("reading: nothing came"), False), (HistoryError("another collector"), True),
])  # fmt: skip
def test_collector_continues_only_after_a_suspension(
    error: Exception, is_suspended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    collector: Any = _Collector.__new__(_Collector)
    collector._plan, collector._notify = Plan(SETTINGS), lines.append
    rounds = iter([error, None])

    def collect_up_to(*_: object) -> None:
        if failure := next(rounds):
            raise failure

    collector._collect_up_to = collect_up_to
    monkeypatch.setattr(Suspensions, "since", lambda self, began: 42.0 if is_suspended else 0.0)
    if is_suspended and not isinstance(error, HistoryError):
        collector._follow({}, Mock(), None)
        assert lines == [f"this process was suspended for 42 s; trying again after: {error}"]
    else:
        with pytest.raises(type(error), match=str(error)):
            collector._follow({}, Mock(), None)
        assert not lines
