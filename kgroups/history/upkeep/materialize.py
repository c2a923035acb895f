"""Materialize what derived tables need of commits, so that queries do not read all commits: with each batch a step.

Most records are commits, and most commits change no derived table: only the total of their bucket. What a query
reads instead of them, written by the definitions of the derived tables themselves:

- ``finished_buckets``: ``commit_rate`` of the buckets that no later record changes. Appended.
- ``kept_commits``: of each partition of a group, the last commit before each sample of log ends; tombstones, and both
  commits of a rewind; of each group, the commits next to a rebalance. Appended.
- ``open_commits``: the commits since the last finished bucket, the last commit of each partition of a group before
  that, and each group's last commit, and latest one by time. Replaced by each step: the state at the boundary.

A step reads ``open_commits`` and what was added since the last step, nothing else that grows with history but the
ranges that were read. A query reads these three tables, and the commits that were added since. The other derived
tables are as large as what they are derived from (lag has a row for each sample), or derived from
the records of groups and members, of which there are few: one for a rebalance, thousands of commits between two.

Rule: a group's records are in one partition of the log, in which every batch continues after the previous one. Where
that is not so (landed records, clocks that went back, samples that were written late, groups that moved because the log
has more partitions now), queries read all commits, and the next step begins again; likewise after ``expire``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..load.manifest import MATERIALIZED, DataFile, Entry, Snapshot
from ..load.sql import sql_literal
from ..load.store import Store
from ..materialized import horizon, literals
from ..tables import (
    COMMITS,
    COVERAGE,
    EPOCHS,
    FINISHED_BUCKETS,
    GROUP_METADATA,
    HEADS,
    KEPT_COMMITS,
    OPEN_COMMITS,
    UNDECODED,
    Table,
)
from ..transform.definitions import fill, relations
from .compact import choose_similar
from .rewrite import Elsewhere, Rewriter, repeated

ROWS = 200_000
"""Number of rows that are processed at once, about, so that they fit into memory with all that is computed of them."""

_PREPARED = """
create temp table chunks as
with counted as (
    select log_partition, log_offset // $width as place, count(*) as rows, min(log_time) as first_time
    from all_commits group by all
)
select *, (sum(rows) over (partition by log_partition order by place) - rows) // $chunk_rows as chunk from counted;

create temp table reached as select log_partition, cut from open_since;
create temp table samples as select distinct sampled_at from heads where sampled_at is not null;
create temp table standing as from open_commits;
"""

_NEW = """
create temp table new_kept as from standing limit 0;
create temp table new_buckets as from finished_buckets limit 0;
"""

_NEXT = "create or replace temp table next_standing as from standing limit 0;"

_NEW_COMMITS = """
create or replace temp view new_commits as
select all_commits.* from all_commits join places using (log_partition)
where log_offset // $width between first_place and last_place;
"""

_CHUNK = f"""
create or replace temp table places as
select log_partition, min(place) as first_place, max(place) as last_place from chunks where chunk = $chunk group by all;
{_NEW_COMMITS}
create or replace temp table cuts as
with ends as (
    select log_partition, max(epoch_us(log_time)) as last_us from (
        select log_partition, log_time from standing union all select log_partition, log_time from new_commits
    ) group by all
), later as (
    -- A bucket ends when no commit of a later chunk is in it: clocks of brokers may go back.
    select log_partition, min(epoch_us(first_time)) as first_us from chunks where chunk > $chunk group by all
), moments as (
    select log_partition, least(last_us, first_us, $horizon_us) as moment
    from ends left join later using (log_partition) where last_us is not null
)
select log_partition, make_timestamptz(moment - moment % $bucket_us) as cut from moments;

create or replace temp table slices as
with sizes as (
    select "group", count(*) as rows
    from (select "group" from standing union all select "group" from new_commits) group by all
), numbered as (select "group", (sum(rows) over (order by "group") - rows) // $rows as slice from sizes)
select slice, min("group") as first_group, max("group") as last_group from numbered group by all;

{_NEXT}
"""

_ARRIVED = """
set variable first_group = (select first_group from slices where slice = $slice);
set variable last_group = (select last_group from slices where slice = $slice);

create or replace temp view arriving as
select *, false as is_new from standing where "group" between getvariable('first_group') and getvariable('last_group')
union all by name
select *, false as kept, true as is_new from new_commits
where "group" between getvariable('first_group') and getvariable('last_group');

create or replace temp table arrived as
select arriving.*, sampled_at, log_time < sampled_at as early from arriving
asof left join samples on arriving.log_time <= samples.sampled_at;

create or replace temp view recent_commits as from arrived where log_time is not null;
"""

_MARKED = """
create or replace temp table decisive as
with spans as (
    select "group", log_partition, sampled_at, early, min(log_offset) as first, max(log_offset) as last
    from arrived where log_time >= make_timestamptz($first) group by all
), mixed as (
    select *, max(last) over (
        partition by "group", log_partition order by sampled_at nulls last, early desc
        rows between unbounded preceding and 1 preceding
    ) as last_before, min(first) over (
        partition by "group", log_partition order by sampled_at nulls last, early desc
        rows between 1 following and unbounded following
    ) as first_after from spans
), rounds as (
    select * from all_rounds where "group" between getvariable('first_group') and getvariable('last_group')
), beside as (
    select log_partition, max(log_offset) as last, min(log_offset) filter (is_new) as first
    from (from arrived semi join rounds using ("group")) as arrived
    asof join rounds on arrived."group" = rounds."group" and arrived.log_offset >= rounds.begun
    where not tombstone group by log_partition, arrived."group", begun
    union all select log_partition, max(log_offset), min(log_offset) filter (is_new)
    from arrived left join (select "group", min(begun) as begun from rounds group by all) as rounds using ("group")
    where not tombstone and coalesce(log_offset < begun, true) group by log_partition, "group"
)
select log_partition, log_offset from commit_steps
    where tombstone or step < 0 or next_step < 0
union select log_partition, log_offset from arrived where log_time is null
union select log_partition, max(log_offset) from arrived where sampled_at is not null
    group by "group", topic, "partition", log_partition, sampled_at, early
union select log_partition, last from beside
union select log_partition, first from beside where first is not null
union select arrived.log_partition, log_offset from arrived join mixed using ("group", log_partition)
    where log_offset between first and greatest(last_before, last) and (last_before > first or last > first_after);

create or replace temp table staying as
with begun as (
    select "group", log_partition, min(log_offset) as first from arrived join cuts using (log_partition)
    where log_time >= cut group by all
), begun_or_not as (
    select arrived.*, log_offset >= first is true as is_open from arrived left join begun using ("group", log_partition)
)
select log_partition, log_offset from begun_or_not where is_open
union select log_partition, max(log_offset) from begun_or_not where not is_open
    group by "group", topic, "partition", log_partition
union select log_partition, max(log_offset) from begun_or_not where not is_open and log_time is not null
    group by "group", topic, "partition", log_partition
union select log_partition, max(log_offset) from arrived where not tombstone group by "group", log_partition
union select log_partition, max_by(log_offset, row(log_time, log_offset)) from arrived where log_time is not null
    group by "group", log_partition;

create or replace temp table marked as
select * replace (kept or exists (from decisive where decisive.log_partition = rest.log_partition
    and decisive.log_offset = rest.log_offset) as kept),
    exists (from staying where staying.log_partition = rest.log_partition
    and staying.log_offset = rest.log_offset) as stays
from (
    from arrived where kept union all from arrived semi join (from decisive union from staying) as chosen
    using (log_partition, log_offset) where not kept
) as rest;
"""

_ADDED = """
insert into next_standing select * exclude (is_new, sampled_at, early, stays) from marked where stays;
insert into new_kept select * exclude (is_new, sampled_at, early, stays) from marked where kept and not stays;
insert into new_buckets by name
select commit_buckets.* from commit_buckets join cuts using (log_partition) left join reached using (log_partition)
where bucket < cuts.cut and coalesce(bucket >= reached.cut, true);
"""

_CHUNK_DONE = """
create or replace temp table reached as
select log_partition, coalesce(cuts.cut, reached.cut) as cut from reached full join cuts using (log_partition);
create or replace temp table standing as from next_standing;
"""

_MOVED = 'select 1 from new_commits group by "group" having min(log_partition) <> max(log_partition) limit 1'

_ROUNDS = """
select "group", log_offset as begun from group_metadata
union all select "group", log_offset from epochs where subject = 'group'
"""

_OF_SLICES = ("commit_steps", "commit_buckets")
"""The relations that are computed for each slice."""

_RECENT = "recent_commits"
"""The tables that they use; here the commits of the slice."""

_OF_TASKS = (
    "standing", "samples", "reached", "places", "cuts", "slices", "all_rounds", "finished_buckets",
)  # fmt: skip
"""What a task needs of a chunk, besides :func:`_of_log`."""

_ADDED_TO = ("next_standing", "new_kept", "new_buckets")
"""What the slices add rows to."""

TASKS = 64
"""Maximum number of tasks of a chunk."""

_RESULTS = ((KEPT_COMMITS, "new_kept"), (OPEN_COMMITS, "standing"), (FINISHED_BUCKETS, "new_buckets"))


def _of_log() -> list[str]:
    """Return the relations that :data:`_OF_SLICES` use, and that are computed for the whole log."""
    return [name for name in relations(["commit_buckets"]) if name not in (*_OF_SLICES, _RECENT)]


def _define(rewriter: Rewriter, names: Iterable[str], at: int) -> None:
    for name in names:
        rewriter.define(name, fill(relations([name])[name], literals(sql_literal, at)))


class Slices(NamedTuple):
    """Slices of a chunk, and what determines their results besides the relations of :data:`_OF_TASKS`.

    ``commits``: the files with the new commits. ``at``: the horizon.
    """

    numbers: Sequence[int]
    commits: tuple[DataFile, ...]
    values: Mapping[str, str]
    at: int


def _compute_alone(rewriter: Rewriter, slices: Slices) -> dict[str, str]:
    """Compute slices in another process; return the paths of what it lends."""
    rewriter.view("all_commits", COMMITS, slices.commits)
    rewriter.run(fill(_NEW_COMMITS, slices.values) + _NEW + _NEXT)
    _compute(rewriter, slices)
    return rewriter.lend(_ADDED_TO)


def _compute(rewriter: Rewriter, slices: Slices) -> None:
    for number in slices.numbers:
        rewriter.run(fill(_ARRIVED, {**slices.values, "slice": str(number)}))
        _define(rewriter, _OF_SLICES, slices.at)
        rewriter.run(fill(_MARKED, slices.values) + _ADDED)


@repeated
def materialize(store: Store, stopped: Callable[[], bool] = lambda: False, elsewhere: Elsewhere | None = None) -> int:
    """Update the materialized tables to the last entry; return the number of commits that were added.

    :param elsewhere: runs the tasks; default: this process.
    :raises HistoryError: if the store cannot be read or written; it is then unchanged.
    """
    snapshot = store.snapshot()
    through = max(snapshot.collected().entries, default=-1)
    done = snapshot.materialized
    start = done.through if done else -1
    _, new = snapshot.split_files(COMMITS, start)
    at = horizon(snapshot, through)
    if not new or at is None:
        return 0
    with Rewriter(store, stopped) as rewriter:
        files = _Step(rewriter, snapshot, done, at, elsewhere).run() if done else None
        if files is None:
            start, new = -1, snapshot.split_files(COMMITS, -1)[1]
            files = _Step(rewriter, snapshot, None, at, elsewhere).run()
        if files is None:
            return 0
        replaces = [number for number, entry in snapshot.entries.items() if entry.kind == MATERIALIZED]
        rewriter.commit(
            Entry(MATERIALIZED, tuple(files), replaces=tuple(replaces), expired=snapshot.expired, through=through),
            snapshot,
        )
    return sum(file.rows for file in new)


class _Step:
    """One step: from what is materialized, and the entries after it, to what is to be."""

    def __init__(
        self, rewriter: Rewriter, snapshot: Snapshot, done: Entry | None, at: int, elsewhere: Elsewhere | None
    ) -> None:
        self._rewriter, self._snapshot, self._done, self._at = rewriter, snapshot, done, at
        self._elsewhere = elsewhere
        self._start = done.through if done else -1

    def run(self) -> list[DataFile] | None:
        """Return the files; ``None`` if the new commits do not continue the materialized ones."""
        snapshot, rewriter = self._snapshot, self._rewriter
        new = {table: snapshot.split_files(table, self._start)[1] for table in (COMMITS, GROUP_METADATA, EPOCHS)}
        first = min((file.first for file in new[COMMITS] if file.first is not None), default=0)
        heads, later = snapshot.split_files(HEADS, self._start)
        before = horizon(snapshot, self._start)
        if self._done and (before is None or any((file.first or 0) <= before for file in later)):
            return None
        for table, files in new.items():
            rewriter.view("all_commits" if table is COMMITS else table.name, table, files)
        rewriter.view("new_commits", COMMITS, new[COMMITS])
        rewriter.view(HEADS.name, HEADS, [*(file for file in heads if (file.last or 0) >= first), *later])
        rewriter.view(COVERAGE.name, COVERAGE, snapshot.files(COVERAGE))
        rewriter.view(UNDECODED.name, UNDECODED, snapshot.files(UNDECODED))
        rewriter.view(OPEN_COMMITS.name, OPEN_COMMITS, self._old(OPEN_COMMITS))
        rewriter.view(FINISHED_BUCKETS.name, FINISHED_BUCKETS, [])
        _define(rewriter, ["open_since"], before or 0)
        late = relations(["late_commits"])["late_commits"]
        if rewriter.value(f"select exists (from ({late})) or exists ({_MOVED})"):
            return None
        _define(rewriter, _of_log(), self._at)
        rewriter.define("all_rounds", _ROUNDS)
        self._process(new[COMMITS], first)
        found = [*self._merged(KEPT_COMMITS), *self._merged(FINISHED_BUCKETS)]
        for table, name in _RESULTS:
            columns = ", ".join(f'"{each}"' for each in table.names)
            rows = rewriter.value(f"select count(*) from {name}")
            found += rewriter.write(table, f"select {columns} from {name}", rows)
        return found

    def _process(self, commits: Sequence[DataFile], first: int) -> None:
        """Process the new commits in chunks in the order of the log, each of them in slices of groups."""
        rewriter = self._rewriter
        largest = 'select coalesce(max(rows), 0) from (select count(*) as rows from all_commits group by "group")'
        chunk_rows = ROWS if rewriter.value(largest) > ROWS else sum(file.rows for file in commits) + 1
        values = literals(sql_literal, self._at) | {
            "rows": str(ROWS), "chunk_rows": str(chunk_rows), "width": str(max(1, ROWS // 16)), "first": str(first),
        }  # fmt: skip
        rewriter.run(fill(_PREPARED, values) + _NEW)
        for chunk in range(rewriter.value("select max(chunk) + 1 from chunks")):
            rewriter.run(fill(_CHUNK, values | {"chunk": str(chunk)}))
            numbers = rewriter.column("select slice::bigint from slices order by slice")
            slices = Slices(numbers, tuple(commits), values, self._at)
            if self._elsewhere is None:
                _compute(rewriter, slices)
            else:
                self._compute_elsewhere(self._elsewhere, slices)
            rewriter.run(_CHUNK_DONE)

    def _compute_elsewhere(self, elsewhere: Elsewhere, slices: Slices) -> None:
        tasks = [slices._replace(numbers=slices.numbers[at::TASKS]) for at in range(min(TASKS, len(slices.numbers)))]
        for added in self._rewriter.run_elsewhere(elsewhere, _compute_alone, tasks, [*_of_log(), *_OF_TASKS]):
            self._rewriter.take(added)

    def _old(self, table: Table) -> list[DataFile]:
        return [file for file in self._done.files if file.table == table.name] if self._done else []

    def _merged(self, table: Table) -> Iterator[DataFile]:
        """Yield the files of earlier steps; small ones of a day are merged."""
        by_day: dict[str, list[DataFile]] = {}
        for file in self._old(table):
            by_day.setdefault(file.path.rpartition("/")[0], []).append(file)
        for files in by_day.values():
            small = choose_similar(files, is_over=False) if len(files) > 1 else []
            yield from (file for file in files if file not in small)
            if small:
                self._rewriter.view("part", table, small)
                yield from self._rewriter.write(table, "select * from part", sum(file.rows for file in small))
