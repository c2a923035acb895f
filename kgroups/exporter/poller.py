"""Poll the cluster in the background, and keep the last known values of what did not respond."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from kgroups.admin.observe import observe
from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.exit_status import print_to_stderr
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.run_query import Session
from kgroups.errors import KgroupsError
from kgroups.model.groups import GroupId
from kgroups.model.health.findings import Sample, Seen
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome, unanswered
from kgroups.model.permissions import COMMITS_NOTICES
from kgroups.watch.state.group_samples import GroupSample, LogSample, PolledGroup, sample, sample_logs
from kgroups.watch.state.log_ends import LogEnds
from kgroups.watch.state.rebalances import Rebalances

from .metrics import Scrape

MAX_MISSING = 100_000
"""Maximum number of missing groups to remember."""


class Polling(NamedTuple):
    """The scope of a poll. ``keep``: the seconds for which the last known values are served."""

    with_time: bool = False
    with_commit_age: bool = False
    keep: float = 3600.0
    with_headroom: bool = False
    with_counts: bool = False


class Poller:
    """Polls the cluster over connections that are kept. Scrapes read the last poll's result and never wait for one."""

    def __init__(
        self, connection: ConnectionOptions, selection: Selection, isolation: Isolation, polling: Polling
    ) -> None:
        self._connection = connection
        self._session = Session(connection.settings, debug=connection.debug, quiet=True)
        self._selection = selection
        self._isolation = isolation
        self._polling = polling
        self._rebalances = Rebalances()
        self._ends = LogEnds()
        self._failures: Counter[str] = Counter()
        self._hidden: frozenset[str] = frozenset()
        self._scrapes = 0
        self._known: dict[GroupId, GroupSample] = {}
        self._reached_at: float | None = None
        self._unreached: str | None = None
        """Why the last poll did not reach the cluster."""
        self._reported = False
        """Whether an outage was printed that has not ended."""
        self.cluster_id: str | None = None
        """The ID that the cluster had when it was last reached."""

    def run(
        self, interval: float, publish: Callable[[Scrape], None], turns: AbstractContextManager[Any] | None = None
    ) -> None:
        """Poll forever.

        :param turns: is held during a poll; it limits how many clusters are polled at the same time.
        """
        pause = threading.Event()
        self._report()
        while True:
            began = time.monotonic()
            with turns or nullcontext():
                publish(self.poll())
            self._report()
            pause.wait(max(0.0, began + interval - time.monotonic()))

    def _report(self) -> None:
        """Print at the start of an outage why the cluster was not reached, and at its end that it was."""
        is_outage = self._unreached is not None
        if is_outage is self._reported:
            return
        self._reported = is_outage
        text = f"not reached: {self._unreached}; the last values are served" if is_outage else "reached again"
        print_to_stderr(f"kgroups: {self._connection.profile or 'the cluster'}: {text}")

    def poll(self) -> Scrape:
        """Poll once; if the cluster does not respond, return the last known values."""
        began, at = time.monotonic(), time.time()
        self._scrapes += 1
        logs: tuple[LogSample, ...] = ()
        try:
            outcome = self._query()
        except KgroupsError as error:
            self._unreached = str(error)
            self._failures["cluster"] += 1
            self._hold(frozenset(self._known), time.time())
            up = False
        else:
            up = True
            self._unreached = None
            self._reached_at = at  # no value is older
            self._failures.update(failure.scope.value for failure in outcome.failures)
            self._hidden = _hidden_in(outcome)
            logs = self._sample(outcome)
        groups = tuple(self._known[name] for name in sorted(self._known))
        counts = {each.name: self._rebalances.count(each.name) for each in groups}
        seconds = time.monotonic() - began
        failures = dict(self._failures)
        return Scrape(groups, logs, counts, up, seconds, self._scrapes, failures, self._reached_at, self._hidden)

    def close(self) -> None:
        """Close the connections. No poll can follow."""
        self._session.close()

    def _query(self) -> Outcome[Seen]:
        outcome, self.cluster_id = self._session.query(
            lambda admin: observe(
                admin,
                self._selection,
                Sample(
                    with_ages=self._polling.with_time,
                    with_commit_times=self._polling.with_commit_age,
                    with_headroom=self._polling.with_headroom,
                    with_counts=self._polling.with_counts,
                ),
                isolation=self._isolation,
            )
        )
        return outcome

    def _sample(self, outcome: Outcome[Seen]) -> tuple[LogSample, ...]:
        logs = sample_logs(outcome.items[0].offsets.logs) if outcome.items else ()  # all groups share them
        now = outcome.items[0].now / 1000 if outcome.items else time.time()
        topic_ids = outcome.items[0].offsets.logs.topic_ids if outcome.items else {}
        ends = (((each.topic, each.partition), each.end) for each in logs if each.end is not None)
        self._ends.add(now, ends, topic_ids)
        seen = set()
        for each in outcome.items:
            name = each.offsets.group.group
            seen.add(name)
            polled = PolledGroup(each.offsets, each.now, each.ages, each.committed_at)
            self._known[name] = sample(polled, self._ends, self._known.get(name), self._polling.keep)
            self._rebalances.add(each.offsets.group)
        named = unanswered(outcome.failures)
        missing = (self._known.keys() if named is None else named) - seen
        for name in missing - self._known.keys():
            self._known[name] = GroupSample(name, 0.0, 1, stale=True, described=False)
        for name in self._known.keys() - seen - missing:
            del self._known[name]
        for name in sorted(missing)[MAX_MISSING:]:  # while a broker is down, deleted groups are indistinguishable
            del self._known[name]
        self._hold(frozenset(missing & self._known.keys()), now)
        for name in self._rebalances.names - self._known.keys():
            self._rebalances.drop(name)
        return logs

    def _hold(self, names: frozenset[GroupId], now: float) -> None:
        for name in names:
            self._known[name] = self._known[name].held(now, self._polling.keep)


def _hidden_in(outcome: Outcome[Seen]) -> frozenset[str]:
    found = {"groups": bool(outcome.hidden_by), "offsets": not COMMITS_NOTICES.isdisjoint(outcome.notices)}
    return frozenset(what for what, hidden in found.items() if hidden)
