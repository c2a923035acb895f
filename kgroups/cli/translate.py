"""``kgroups translate``."""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kgroups.admin.change.apply.chunks import not_together
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.client import WireOnly, wire_of
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.routing.partition_leaders import TopicPartition
from kgroups.admin.translation.log_reader import SOURCE, TARGET, on_side
from kgroups.admin.translation.source_again import check_source, find_members
from kgroups.admin.translation.translate import PART, Gathered, Request, Translated
from kgroups.admin.translation.translate import translate as translate_offsets
from kgroups.errors import EXIT_FAILED, KgroupsError, Reason, UsageError
from kgroups.model.counts import count
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit, PlanKey
from kgroups.model.operations.reset import FromPlan, PlannedOffset
from kgroups.model.outcome import Failure, Outcome, Result, Scope, merge
from kgroups.model.translation.method import Impossible, Method
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResultAndError, result_and_error
from kgroups.model.views.translation_rows import IMPOSSIBLE, TranslateRow
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code
from kgroups.render.table import RowStore
from kgroups.render.translation_views import TRANSLATE

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.matching import Matching
from .change.reset import OffsetOperation
from .change.safety import Safety
from .frame.exit_status import end_on_signals, print_below, print_to_stderr, set_endless
from .frame.options import ConnectionOptions, PairOptions
from .frame.output import Shape
from .frame.run_query import open_for_command
from .frame.selected_groups import GroupOptions

if TYPE_CHECKING:
    from .change.undo_file import UndoFile


def translate(
    pair: PairOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    safety: Safety,
    chosen: GroupOptions,
    matching: Matching,
    partial: bool,
    including_hidden: bool,
    overwrite: bool,
    skip_others: bool,
    follow: float | None,
) -> int:
    """Run ``kgroups translate``; return the exit code."""
    if follow is not None and not (confirmation.execute and confirmation.yes):
        raise UsageError("--follow requires --execute --yes: it writes again and again")
    if follow is not None and undo_file is not None:
        raise UsageError("--follow cannot be combined with --undo-file: each time, a file with a new name is written")
    if follow is not None and shape.format == "json":
        raise UsageError("--follow cannot be combined with -o json, which is one document; use -o jsonl")
    request = matching.request(chosen.selection())
    safety = safety.of(confirmation, pair.target)
    operation = Translate(request, pair.source, safety, partial, including_hidden, overwrite, skip_others, undo_file)
    if follow is None:
        return apply_plan(pair.target, shape, confirmation, operation)
    return _follow(follow, pair.target, shape, confirmation, operation)


def _follow(
    interval: float, target: ConnectionOptions, shape: Shape, confirmation: Confirmation, operation: Translate
) -> int:
    """Translate again and again; return the exit code of the last round, 0 if all groups have members on the target."""
    set_endless()
    try:
        end_on_signals(*_ENDS)
        code = apply_plan(target, shape, confirmation, operation)
        while operation.followed and code <= 128:  # else, a signal ended the round
            end_on_signals(*_ENDS)  # each round has handlers of its own, and leaves none
            time.sleep(interval)
            operation = replace(operation, again=True)
            code = _again(target, shape._replace(no_headers=True), confirmation, operation)
    except KeyboardInterrupt:
        _note_earlier(operation)
        raise
    if code > 128 and operation.again:
        _note_earlier(operation)
    return code


def _again(target: ConnectionOptions, shape: Shape, confirmation: Confirmation, operation: Translate) -> int:
    """Run a further round; return the exit code, also if a cluster does not respond: the next round may succeed."""
    try:
        return apply_plan(target, shape, confirmation, operation)
    except KgroupsError as error:
        if error.exit_code != EXIT_FAILED:
            raise
        print_to_stderr(f"kgroups: error: {error}")
        return EXIT_FAILED


def _note_earlier(operation: Translate) -> None:
    if operation.written:
        print_below("kgroups: earlier rounds changed offsets; to restore them, undo their files, the newest first")


_ENDS = (signal.SIGTERM, signal.SIGHUP)
_SEES_OTHERS = (Method.IDENTICAL, Method.RECORD, Method.END)
"""The methods that look at the records before the offset."""


class Step(NamedTuple):
    """A translated offset, and what is written: ``planned`` is ``None`` if that is nothing, and ``note`` says why."""

    translated: Translated
    planned: PlannedOffset | None = None
    note: str | None = None
    ahead: bool = False
    """Whether the group is further on the target."""
    foreign: bool = False
    """Whether the offset on the target is another one that translate did not write."""

    @property
    def group(self) -> str:
        return self.translated.group

    @property
    def key(self) -> PlanKey:
        return self.translated.group, self.translated.target_topic, self.translated.partition


@dataclass
class Translate(OffsetOperation[Step]):
    """A translation of one cluster's offsets, written to another one."""

    view = TRANSLATE
    verb = "Write"

    request: Request
    source: ConnectionOptions
    safety: Safety
    partial: bool = False
    including_hidden: bool = False
    overwrite: bool = False
    skip_others: bool = False
    undo_path: Path | None = None
    arrived: set[GroupId] = field(default_factory=set)
    """The groups that have members on the target, or went on there: they are left alone from then on."""
    written: dict[PlanKey, tuple[int, str]] = field(default_factory=dict)
    """The offsets that earlier rounds wrote, with their metadata."""
    again: bool = False
    """Whether the offsets were written before: those that have not changed are not shown."""
    followed: frozenset[GroupId] = frozenset()
    """The translated groups that have not arrived."""
    writes: int = 0
    """How many offsets the plan writes."""
    gathered: Gathered | None = None
    """What the plan relies on."""

    def __post_init__(self) -> None:
        self.selection = None  # hints would be about the groups of the target

    async def plan(self, cluster: Cluster) -> Outcome[Step]:
        """Plan some groups at a time. A dry run keeps only their rows, packed."""
        async with self._opened() as source:
            if self.safety.when_empty is not None:
                selection = self.request.selection
                left = await self.safety.plan(source, lambda: find_members(source, selection), f" {SOURCE}")
                if left.failures:
                    return Outcome((), left.failures, left.notices)
            translations = await translate_offsets(source, cluster, self.request)
        self.gathered = translations.gathered
        # Groups may be missing because a broker did not respond.
        followed = set(self.followed if translations.outcome.failures else ())
        self.writes = 0
        parts: list[Outcome[Step]] = []
        rows = RowStore(self.view.columns)
        for part in translations.parts(sys.maxsize if self.safety.together else PART):
            planned = await self._plan_part(cluster, part, translations.outcome.failures)
            followed.update(each.group for each in part)
            self.writes += sum(step.planned is not None for step in planned.items)
            if not self.safety.execute:
                rows.append(map(self.row, planned.items))
                planned = planned.with_items(())
            parts.append(planned)
        self.followed = frozenset(followed - self.arrived)
        planned = merge(parts)
        planned = planned._replace(failures=tuple(dict.fromkeys(planned.failures))).after(translations.outcome)
        return planned if self.safety.execute else planned._replace(items=rows)  # type: ignore[arg-type]

    async def _plan_part(
        self, cluster: Cluster, part: Iterable[Translated], translating: Iterable[Failure]
    ) -> Outcome[Step]:
        steps = [self._step(each) for each in part if each.group not in self.arrived]
        failures = _impossible(steps)
        skips = [] if self.skip_others else _skips(steps)
        held = _held(steps, () if self.partial else failures, () if self.including_hidden else translating, skips)
        moves = {step.key: _commit(step.translated) for step in steps if step.note is None and step.group not in held}
        # Those that need no move may have members by now.
        names = {step.group for step in steps} if self.again else {group for group, _, _ in moves}
        planned = await self.safety.plan(cluster, lambda: self._plan_moves(cluster, moves, names, steps), f" {TARGET}")
        self.arrived.update(step.group for step in steps if step.foreign)
        joined = [each for each in planned.failures if each.error == Code.non_empty_group.name.upper()]
        self.arrived.update(each.name for each in joined)
        if self.again:  # what --follow waits for is not a failure
            notices = (
                f"group '{each.name}' has members on the target: it is left alone from now on" for each in joined
            )
            planned = planned._replace(failures=tuple(each for each in planned.failures if each not in joined))
            planned = planned.with_failures((), notices)
        planned = await self._screened(cluster, planned)
        by_key = {entry.key: entry for entry in planned.items}
        items = [self._planned(step, by_key.get(step.key), held.get(step.group)) for step in steps]
        left = [*skips, *_ahead(items), *_foreign(items)]
        if self.again:
            items = [step for step in items if step.planned or step.foreign or step.translated.translation.why]
        return planned.with_failures([*failures, *left]).with_items(items)

    def _step(self, each: Translated) -> Step:
        offset, old = each.translation.offset, each.old
        if offset is None:
            return Step(each, note="")
        if not each.known_there:
            return Step(each, note="not written: the group's offset there could not be read")
        if old is None:
            return Step(each)
        if old.offset == offset:
            return Step(each, note="already there")
        if old.offset > offset:
            foreign = not self._is_ours(each, old)
            note = f"not moved back: the group is at {old.offset:,} there"
            return Step(each) if each.outside else Step(each, note=note, ahead=True, foreign=foreign)
        if self._is_ours(each, old):
            return Step(each)
        note = f"not overwritten: the group is at {old.offset:,} there, which translate did not write"
        return Step(each, note=note, foreign=True)

    def _is_ours(self, each: Translated, old: Commit) -> bool:
        """Return whether an offset on the target may be replaced: translate or MirrorMaker 2 wrote it, or --overwrite.

        Of what an earlier round wrote, only that commit counts: another one, also of the same offset, shows that the
        group went on there.
        """
        key = each.group, each.target_topic, each.partition
        if key in self.written:
            return (old.offset, old.metadata or "") == self.written[key] or old.offset in each.mirrored
        return self.overwrite or old.metadata == each.mark or old.offset in each.mirrored

    def _planned(self, step: Step, entry: PlannedOffset | None, held: str | None) -> Step:
        if entry is not None:
            now = self._step(step.translated._replace(old=entry.before))  # the group may have gone on since
            return now if now.note else now._replace(planned=entry, note=entry.note)
        if held and step.note is None:
            return step._replace(note=f"not written: {held}")
        return step

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Cluster]:
        """Connect to the source."""
        client, _ = await open_for_command(self.source.settings, debug=self.source.debug, side=self.source.side)
        try:
            yield wire_of(client, WireOnly.TRANSLATION)
        finally:
            await client.close()

    async def _plan_moves(
        self, cluster: Cluster, moves: Mapping[PlanKey, Commit], names: Iterable[GroupId], steps: Iterable[Step]
    ) -> Outcome[PlannedOffset]:
        selection = Selection(tuple(sorted(names)))
        if not selection.names:
            return Outcome()
        kinds = {step.group: step.translated.kind for step in steps if step.translated.kind}
        scenario = FromPlan(moves, kinds=kinds)
        return await plan_reset(cluster, ResetRequest(selection, scenario, create=True, announce=False))

    async def _screened(self, cluster: Cluster, planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
        """Return the plan without the groups for which another client commits on the target."""
        written = {key: offset for key, (offset, _) in self.written.items()}
        others = {each.group for each in planned.items if each.key not in written or each.old != written[each.key]}
        screened = await self.safety.screen_offsets(
            cluster, planned.with_items(entry for entry in planned.items if entry.group in others)
        )
        return screened.with_items((*screened.items, *(entry for entry in planned.items if entry.group not in others)))

    def row(self, item: Step, result: ResultAndError = NOT_EXECUTED) -> TranslateRow:
        each, translation = item.translated, item.translated.translation
        method = translation.method.value if translation.method else IMPOSSIBLE
        notes = (f"{translation.why}: {translation.evidence}" if translation.why else translation.evidence, item.note)
        return TranslateRow(
            *(each.group, each.topic, each.partition, each.commit.offset, each.target_topic),
            each.old.offset if each.old else None,
            translation.offset,
            method,
            translation.read_again,
            translation.others if translation.method in _SEES_OTHERS else None,
            "; ".join(filter(None, notes)) or None,
            *result,
        )

    def planned_rows(self, planned: Outcome[Step]) -> Outcome[Any]:
        return super().planned_rows(planned) if self.safety.execute else planned

    def blocked(self, planned: Sequence[Step]) -> str:
        return "" if self.writes else "no offset is to be written"

    def question(self, planned: Sequence[Step]) -> str:
        return super().question([step for step in planned if step.planned])

    async def _check_source(self, planned: Iterable[Step]) -> dict[GroupId, Failure]:
        """Return a failure for each group that must not be written: the source has changed since it was read."""
        read: dict[GroupId, dict[TopicPartition, int]] = {}
        for step in planned:
            if step.planned:
                read.setdefault(step.group, {})[step.translated.pair] = step.translated.commit.offset
        if not read:
            return {}
        assert self.gathered
        async with self._opened() as source:
            changed = await check_source(source, read, self.gathered.facts.source_topics, self.gathered.live)
        return not_together(changed.values(), read) if changed and self.safety.together else changed

    async def apply(self, cluster: Cluster, planned: Sequence[Step], undo: UndoFile) -> Outcome[Any]:
        steps = {step.key: step for step in planned}
        changed = await undo.stop.bound(self._check_source(planned)) or {}
        entries = [step.planned for step in planned if step.planned and step.group not in changed]
        applied = await self.write(cluster, entries, undo) if entries else Outcome()
        failures = (on_side(TARGET, failure) if failure.acl else failure for failure in applied.failures)
        applied = applied._replace(failures=tuple(failures))
        for each in applied.items:
            if each.result is Result.APPLIED and each.planned.new is not None:
                commit = _commit(steps[each.planned.key].translated)
                self.written[each.planned.key] = each.planned.new, commit.metadata or ""
        rows = applied.with_items(
            self.row(steps[each.planned.key], result_and_error(each.result, each.failure)) for each in applied.items
        )
        rows = rows.with_failures(dict.fromkeys(changed.values()))
        left = [
            self.row(step, result_and_error(Result.FAILED, changed[step.group]) if step.planned else NOT_EXECUTED)
            for step in planned
            if not step.planned or step.group in changed
        ]
        order = {key: at for at, key in enumerate(steps)}
        both = sorted((*rows.items, *left), key=lambda row: order[row.group, row.target_topic, row.partition])
        return rows.with_items(both)


def _commit(each: Translated) -> Commit:
    assert each.translation.offset is not None
    metadata = each.commit.metadata or each.mark
    return Commit(each.partition, each.translation.offset, each.translation.epoch, metadata)


def _held(
    steps: Sequence[Step], impossible: Iterable[Failure], failures: Iterable[Failure], skips: Iterable[Failure]
) -> dict[GroupId, str]:
    """Return the groups of which nothing is written, and why: on some partitions, they would begin anywhere."""
    hidden = any(failure.reason is Reason.OFFSETS_HIDDEN for failure in failures)
    why = "other offsets of the group may be hidden (--including-hidden-offsets)"
    held = dict.fromkeys((step.group for step in steps if hidden), why)
    why = "other offsets of the group are impossible (--partial)"
    held |= dict.fromkeys((each.name for each in impossible), why)
    held |= dict.fromkeys((each.name for each in skips), "the group would skip records of others (--skip-others)")
    why = "other offsets of the group are not overwritten (--overwrite)"
    return held | dict.fromkeys((step.group for step in steps if step.foreign), why)


def _ahead(steps: Iterable[Step]) -> list[Failure]:
    """Return a failure for each group that is further on the target: it went on there, or it would lose records."""
    return _failures(
        Counter(step.group for step in steps if step.ahead),
        lambda n: f"{count(n, 'offset')} of the target {'is' if n == 1 else 'are'} further, and not moved back",
        "if the group did not go on there, kgroups parity shows what it would lose",
    )


def _foreign(steps: Iterable[Step]) -> list[Failure]:
    """Return a failure for each group with offsets on the target that translate did not write: it went on there."""
    return _failures(
        Counter(step.group for step in steps if step.foreign and not step.ahead),
        lambda n: (
            f"translate did not write {count(n, 'offset')} of the target, and does not overwrite "
            f"{'it' if n == 1 else 'them'}: the group, or another tool, went on there"
        ),
        "if these offsets are not needed, add --overwrite; if MirrorMaker 2 syncs them, add --mm2",
    )


def _skips(steps: Iterable[Step]) -> list[Failure]:
    """Return a failure for each group that would skip records that others wrote into the copy."""
    numbers: Counter[GroupId] = Counter()
    for step in steps:
        if step.note is None and step.translated.translation.others:
            numbers[step.group] += step.translated.translation.others
    return _failures(
        numbers,
        lambda n: (
            f"it would skip {count(n, 'record')} of other producers in the copy, before the last one that it read"
        ),
        "if the group does not need these records, add --skip-others; else, process them separately",
    )


def _failures(numbers: Mapping[GroupId, int], text: Callable[[int], str], hint: str) -> list[Failure]:
    """Return a failure for each group, with a text about its number of offsets or records."""
    return [
        Failure(Scope.GROUP, group, text(number), reason=Reason.NOT_APPLICABLE, hint=hint)
        for group, number in numbers.items()
    ]


def _impossible(steps: Iterable[Step]) -> list[Failure]:
    """Return a failure for each group with impossible offsets."""
    found: dict[str, Counter[Impossible]] = {}
    totals: Counter[str] = Counter(step.group for step in steps)
    for step in steps:
        if step.translated.translation.why:
            found.setdefault(step.group, Counter())[step.translated.translation.why] += 1
    return [
        Failure(
            Scope.GROUP,
            group,
            f"{sum(whys.values()):,} of {count(totals[group], 'offset')} cannot be translated: "
            + ", ".join(f"{why} ({number:,})" for why, number in sorted(whys.items())),
            reason=Reason.NOT_APPLICABLE,
        )
        for group, whys in found.items()
    ]
