"""Plan the samples that rules need, and build the report from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kgroups.errors import UsageError

from ..groups import GroupId
from ..operations.commit_history import History
from ..outcome import Failure, Outcome
from ..permissions import Acl
from ..severity import Severity
from ..stays import Instances, is_static
from ..time_lag import Position
from .assigned import with_instances
from .check import Input
from .findings import Finding, Place, Proof, Sample, Seen
from .judge import CHECKS, judge
from .limits import Limits
from .report import CLUSTER, Report, report_of
from .rules import Rule, fits, limits_of
from .trend import suspects


class Answers(NamedTuple):
    """What was found out after the last sample, by group.

    ``histories_unread``: why the commits of a group are unknown.
    """

    proofs: Mapping[GroupId, Mapping[Place, Proof]] = {}
    histories: Mapping[GroupId, Mapping[Place, History]] = {}
    histories_unread: Mapping[GroupId, str] = {}
    instances: Mapping[GroupId, Instances] = {}


class Sampling:
    """The samples of groups for a set of rules, oldest first.

    :param rules: requirements in addition to ``limits``, by group; all of them, so that all clusters are sampled at the
        same times.
    :param window: seconds from the first sample to the last, for a trend; other rules need one sample.
    :param samples: the number of samples for a trend, two or more.
    :param cluster: the name of the cluster, whose rules are applied.
    :param every: whether all groups that the rules mean are sampled. Then each rule must mean a group, otherwise one of
        the rules must.
    :raises UsageError: for a trend with fewer samples.
    """

    def __init__(
        self,
        limits: Limits,
        rules: Sequence[Rule],
        window: float,
        samples: int,
        cluster: str = "",
        *,
        every: bool = True,
    ) -> None:
        requirements = [limits, *(rule.limits for rule in rules)]
        self._limits = limits
        self._every = every
        self._judged: set[GroupId] = set()
        self._rules = [rule for rule in rules if rule.concerns(cluster)]
        self._window = window
        inputs = {each for limits in requirements for check in CHECKS if check.is_set(limits) for each in check.inputs}
        self._trend = Input.WINDOW in inputs
        self._ages = Input.UNREAD_TIMES in inputs
        self._expiry = Input.OFFSET_EXPIRY in inputs
        self._headroom = Input.RETENTION in inputs
        self._commit_ages = Input.COMMIT_TIMES in inputs
        self._stopped = Input.OUTSIDERS in inputs
        self._share_states = Input.SHARE_STATES in inputs
        self._epoch_ends = Input.EPOCH_ENDS in inputs
        self._migration = Input.MIGRATION in inputs
        self._samples: dict[GroupId, list[Seen]] = {}
        self._failures: tuple[Failure, ...] = ()
        self._hidden_by: tuple[Acl, ...] = ()
        self._findings: list[Finding] = []
        self._static: set[GroupId] = set()
        self._instances: Mapping[GroupId, Instances] = {}
        if self._trend and samples < 2:
            raise UsageError(f"a trend requires at least two samples, not {samples}")
        self._count = samples if self._trend else 1

    def planned(self) -> Iterator[Sample]:
        """Yield the samples to take; add the result of each before the next."""
        last = self._count - 1
        for number in range(self._count):
            # A trend needs the times of commits at both ends of its window, other rules those of the last sample.
            times = (self._trend and number == 0) or (number == last and (self._trend or self._commit_ages))
            is_last = number == last
            yield Sample(
                self._window / last if number else 0,
                with_ages=is_last and self._ages,
                with_commit_times=times,
                with_outsiders=is_last and self._stopped,
                with_headroom=is_last and self._headroom,
                with_expiry=is_last and self._expiry,
                with_share_states=is_last and self._share_states,
                with_epoch_ends=is_last and self._epoch_ends,
                with_migration=is_last and self._migration,
            )

    def add(self, seen: Outcome[Seen]) -> None:
        """Add a sample. Drop groups that no longer exist, and the failures of earlier samples."""
        self._samples = {
            (name := each.offsets.group.group): [*self._samples.get(name, ()), each] for each in seen.items
        }
        self._failures, self._hidden_by = seen.failures, seen.hidden_by

    @property
    def in_batches(self) -> bool:
        """Whether each group can be judged as soon as it is sampled, and then dropped."""
        later = (self._ages, self._headroom, self._expiry, self._commit_ages, self._stopped, self._share_states)
        return self._count == 1 and not any(later)

    def judge(self, seen: Outcome[Seen]) -> None:
        """Keep the findings for some groups, but not the groups; only if :attr:`in_batches`."""
        self._judged.update(each.offsets.group.group for each in seen.items)
        self._static.update(each.offsets.group.group for each in seen.items if self._needs_instances(each))
        for each in seen.items:
            self._findings += judge((each,), limits_of(each.offsets.group.group, self._limits, self._rules))
        self._failures += seen.failures
        self._hidden_by += seen.hidden_by

    def unproven(self) -> dict[GroupId, dict[Place, Position]]:
        """Return the partitions of each group whose trend requires proof of an unread record, and where to search."""
        found = {
            name: suspects(samples_of_group)
            for name, samples_of_group in self._samples.items()
            if limits_of(name, self._limits, self._rules).trend
        }
        return {name: places for name, places in found.items() if places}

    def static(self) -> set[GroupId]:
        """Return the groups with static members whose instance IDs a rule requires to be those of one client each."""
        found = {name for name, seen in self._samples.items() if self._needs_instances(seen[-1])}
        return found | self._static

    def _needs_instances(self, seen: Seen) -> bool:
        group = seen.offsets.group
        return is_static(group) and limits_of(group.group, self._limits, self._rules).assigned

    def learn(self, answers: Answers) -> None:
        """Add the answers to :meth:`unproven` and :meth:`static`."""
        for name, found in answers.proofs.items():
            *earlier, last = self._samples[name]
            last = last._replace(
                proofs=found,
                histories=answers.histories.get(name, {}),
                histories_unread=answers.histories_unread.get(name),
            )
            self._samples[name] = [*earlier, last]
        self._instances = answers.instances

    def report(self, at: int) -> Report:
        """Return the report; ``at`` is the current time, in milliseconds since 1970."""
        findings = (
            finding
            for name, samples_of_group in self._samples.items()
            for finding in judge(samples_of_group, limits_of(name, self._limits, self._rules))
        )
        every = (with_instances(each, self._instances) for each in (*self._findings, *findings))
        found = (*every, *self._unmatched())
        return report_of(found, self._failures, at, self._hidden_by)

    def _unmatched(self) -> Iterator[Finding]:
        """Yield a finding for each name or glob of a rule without a group; a failed broker may have the group."""
        names = self._judged | self._samples.keys()
        reported = {failure.name for failure in self._failures}
        missing = {
            (rule, glob)
            for rule in self._rules
            for glob in rule.groups
            if glob not in reported and not any(fits(name, glob) for name in names)
        }
        if not self._every and len(missing) < sum(len(rule.groups) for rule in self._rules):
            return
        for rule in self._rules:
            for glob in rule.groups:
                if (rule, glob) in missing:
                    yield Finding(CLUSTER, "rule", Severity.UNKNOWN, f"{rule.place}: no group matches {glob!r}")
