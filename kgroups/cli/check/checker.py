"""Sample the groups of one cluster or several, and check them against what is expected of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial

from kgroups.admin.client import Client
from kgroups.admin.observe import answer as answer_questions
from kgroups.admin.observe import observe, observe_in_batches, questions_of
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import ClusterUnreachable, DeadlineExceeded
from kgroups.model.clusters import ClusterAnswer, distinct
from kgroups.model.health.findings import Finding, Sample, Seen
from kgroups.model.health.report import ANSWERED, CLUSTER, Report, merge_reports
from kgroups.model.health.sampling import Answers, Sampling
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.severity import Severity

from ..frame.output import print_notice
from ..frame.run_query import Connection, Query, Session

NO_RULE = "no rule names this cluster"


class Checker:
    """Checks the selected groups of each cluster.

    :param selections: the groups to check, by the name of the cluster; ``None``: no rule is about the cluster.
    :param sampling: returns the samples to take of a cluster, the same for all.
    :param tell: is called with what to do next, if that takes time.
    """

    def __init__(
        self,
        connection: Connection,
        selections: Mapping[str, Selection | None],
        isolation: Isolation,
        sampling: Callable[[str], Sampling],
        tell: Callable[[str], object],
    ) -> None:
        self._connection = connection
        self._fleet = connection.fleet
        self._selections = {name: selection for name, selection in selections.items() if selection}
        self._unruled = [name for name in selections if name not in self._selections]
        self._isolation = isolation
        self._sampling = sampling
        self._tell = tell
        self._told: set[str] = set()
        self.ids: dict[str, str | None] = {}
        """The IDs of the clusters that were checked, by name."""

    def report(self) -> Report:
        """Return the report of one sample, or for a trend, of several samples in the window.

        :raises ClusterUnreachable: if there is only one cluster; one of several that fails is UNKNOWN.
        """
        with closing(Session(self._connection.settings, debug=self._connection.debug)) as self._session:
            return self._report()

    def _report(self) -> Report:
        self.ids = {}
        samplings = {name: self._sampling(name) for name in self._selections}
        if all(sampling.in_batches for sampling in samplings.values()):
            answered = self._check_in_batches(samplings)
        else:
            answered = self._take_samples(samplings)
        self._complete(answered)
        now = int(time.time() * 1000)
        reports = {name: samplings[name].report(now) for name in self.ids}
        if not self._fleet:
            return next(iter(reports.values()))
        self.ids |= dict.fromkeys(self._unruled)
        for name in self._unruled:
            reports[name] = Report((Finding(CLUSTER, ANSWERED, Severity.UNKNOWN, NO_RULE),), now)
        return merge_reports({name: reports[name] for name in self._fleet.names if name in reports}, self.ids, now)

    def _query(self, queries: Mapping[str, Query]) -> Mapping[str, ClusterAnswer]:
        """Query each of these clusters. One that was queried as two profiles is returned once."""
        if not self._fleet:
            ((name, query),) = queries.items()
            outcome, self.ids[name] = self._session.query(query)
            return {name: ClusterAnswer(name, self.ids[name], outcome)}
        answers, notices = distinct(self._fleet.answers(queries, debug=self._connection.debug))
        for notice in notices:
            if notice not in self._told:
                print_notice(notice)
        self._told.update(notices)
        self.ids |= {answer.cluster: answer.cluster_id or self.ids.get(answer.cluster) for answer in answers}
        return {answer.cluster: answer for answer in answers}

    def _check_in_batches(self, samplings: Mapping[str, Sampling]) -> Mapping[str, Sampling]:
        """Judge all groups; return the samplings of the clusters that answered."""

        async def check(name: str, admin: Client) -> Outcome[Seen]:
            sampling, selection = samplings[name], self._selections[name]
            (sample,) = sampling.planned()
            async for batch in observe_in_batches(admin, selection, sample, isolation=self._isolation):
                sampling.judge(batch)
            return Outcome()

        answers = self._query({name: partial(check, name) for name in samplings})
        for name, answer in answers.items():
            samplings[name].judge(answer.outcome)
        return {name: samplings[name] for name, answer in answers.items() if not answer.failed}

    def _take_samples(self, samplings: Mapping[str, Sampling]) -> Mapping[str, Sampling]:
        """Take all samples; return those of the clusters that answered each time. The others are not sampled again."""
        plan = next(iter(samplings.values())).planned()
        for number, sample in enumerate(plan, 1):
            if not samplings:
                break
            if sample.pause:
                self._tell(f"sample {number} in {sample.pause:.0f} s")
            time.sleep(sample.pause)
            taken = self._query({name: partial(self._sample, self._selections[name], sample) for name in samplings})
            for name, answer in taken.items():
                samplings[name].add(answer.outcome)
            samplings = {name: samplings[name] for name, answer in taken.items() if not answer.failed}
        return samplings

    async def _sample(self, selection: Selection, sample: Sample, admin: Client) -> Outcome[Seen]:
        return await observe(admin, selection, sample, isolation=self._isolation)

    def _complete(self, samplings: Mapping[str, Sampling]) -> None:
        """Find out what the samples do not show; it is unknown if a cluster does not respond any more."""
        questions = {name: questions_of(sampling) for name, sampling in samplings.items()}
        questions = {name: asked for name, asked in questions.items() if asked.unproven or asked.static}
        if not questions:
            return

        async def find(name: str, admin: Client) -> Outcome[Answers]:
            return Outcome((await answer_questions(admin, questions[name], isolation=self._isolation),))

        try:
            found = self._query({name: partial(find, name) for name in questions})
        except (ClusterUnreachable, DeadlineExceeded) as error:
            for name, asked in questions.items():
                samplings[name].learn(asked.unanswered(error))
            return
        for name, (_, _, outcome) in found.items():
            answers = outcome.items[0] if outcome.items else questions[name].unanswered(outcome.failures[0].message)
            samplings[name].learn(answers)
