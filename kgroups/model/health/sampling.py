"""How often groups are looked at for a report, when, and for what; and the report that comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kgroups.errors import UsageError

from ..groups import GroupId
from ..outcome import Failure, Outcome
from ..time_lag import Position
from .check import Input
from .findings import Finding, Place, Proof, Seen
from .judge import CHECKS, judge
from .limits import Limits
from .report import Report, report_of
from .rules import Rule, limits_of
from .trend import suspects


class Sample(NamedTuple):
    """A look that is to be made, so many seconds after the one before it, and what it is to see."""

    pause: float
    with_ages: bool
    with_commit_times: bool
    with_outsiders: bool = False


class Sampling:
    """The looks at groups of which much is expected, in their order of time.

    :param rules: what is expected beside ``limits``, by group.
    :param window: seconds between looks in all, where a trend is expected: the rest is seen at one look.
    :param samples: how many looks that takes, two or more.
    :raises UsageError: for a trend with fewer.
    """

    def __init__(self, limits: Limits, rules: Sequence[Rule], window: float, samples: int) -> None:
        every = [limits, *(rule.limits for rule in rules)]
        self._limits = limits
        self._rules = rules
        self._window = window
        inputs = {each for limits in every for check in CHECKS if check.is_set(limits) for each in check.inputs}
        self._trend = Input.WINDOW in inputs
        self._ages = Input.UNREAD_TIMES in inputs
        self._commit_ages = Input.COMMIT_TIMES in inputs
        self._stopped = Input.OUTSIDERS in inputs
        self._looks: dict[GroupId, list[Seen]] = {}
        self._failures: tuple[Failure, ...] = ()
        self._findings: list[Finding] = []
        if self._trend and samples < 2:
            raise UsageError(f"a trend takes two samples or more, not {samples}")
        self._times = samples if self._trend else 1

    def wanted(self) -> Iterator[Sample]:
        """The looks to make; what each has seen is to be added before the next."""
        last = self._times - 1
        for number in range(self._times):
            # A trend needs the times of commits at both ends of its window, all else those of the last look.
            times = (self._trend and number == 0) or (number == last and (self._trend or self._commit_ages))
            outsiders = number == last and self._stopped
            yield Sample(self._window / last if number else 0, number == last and self._ages, times, outsiders)

    def add(self, seen: Outcome[Seen]) -> None:
        """What a look has shown: of groups that are gone by now nothing is kept, and only its failures count."""
        self._looks = {(name := each.offsets.group.group_id): [*self._looks.get(name, ()), each] for each in seen.items}
        self._failures = seen.failures

    @property
    def in_batches(self) -> bool:
        """Whether each group can be judged as soon as it is seen, and be forgotten."""
        return self._times == 1 and not self._ages and not self._commit_ages and not self._stopped

    def judge(self, seen: Outcome[Seen]) -> None:
        """Keep what the rules find in some groups, and not the groups; for :attr:`in_batches`."""
        for each in seen.items:
            self._findings += judge((each,), limits_of(each.offsets.group.group_id, self._limits, self._rules))
        self._failures += seen.failures

    def unproven(self) -> dict[GroupId, dict[Place, Position]]:
        """The partitions of each group whose trend is to be proved by an unread record, and where to look for it."""
        found = {
            name: suspects(looks)
            for name, looks in self._looks.items()
            if limits_of(name, self._limits, self._rules).trend
        }
        return {name: places for name, places in found.items() if places}

    def prove(self, proofs: Mapping[GroupId, Mapping[Place, Proof]]) -> None:
        """Keep what was found there."""
        for name, found in proofs.items():
            *earlier, last = self._looks[name]
            self._looks[name] = [*earlier, last._replace(proofs=found)]

    def report(self, at: int) -> Report:
        """What all of it comes to; ``at`` is now, in milliseconds since 1970."""
        findings = (
            finding
            for name, looks in self._looks.items()
            for finding in judge(looks, limits_of(name, self._limits, self._rules))
        )
        return report_of((*self._findings, *findings), self._failures, at)
