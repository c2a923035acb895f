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

from collections.abc import Callable, Iterator

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
    Table,
)
from ..transform.definitions import fill, relations
from .compact import choose_similar
from .rewrite import Rewriter, repeated

ROWS = 4_000_000
"""Maximum number of rows that are processed at once, about: all of some partitions of the log."""

_ARRIVED = """
create or replace temp view arriving as
select *, false as is_new from open_commits where log_partition % $parts = $part
union all by name
select *, false as kept, true as is_new from new_commits where log_partition % $parts = $part;

create or replace temp table arrived as
select arriving.*, sampled_at, log_time < sampled_at as early from arriving
asof left join (select distinct sampled_at from heads) as samples on arriving.log_time <= samples.sampled_at;

create or replace temp view recent_commits as from arrived where log_time is not null;
create or replace temp table cuts as select * from ($cuts);
"""

_MARKED = """
create or replace temp table decisive as
with spans as (
    select log_partition, sampled_at, early, min(log_offset) as first, max(log_offset) as last
    from arrived where log_time >= make_timestamptz($first) group by all
), mixed as (
    select *, max(last) over (
        partition by log_partition order by sampled_at nulls last, early desc
        rows between unbounded preceding and 1 preceding
    ) as last_before, min(first) over (
        partition by log_partition order by sampled_at nulls last, early desc
        rows between 1 following and unbounded following
    ) as first_after from spans
), rounds as (
    select "group", log_offset as begun from group_metadata
    union all select "group", log_offset from epochs where subject = 'group'
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
union select arrived.log_partition, log_offset from arrived join mixed on arrived.log_partition = mixed.log_partition
    and log_offset between first and greatest(last_before, last) where last_before > first or last > first_after;

create or replace temp table staying as
with begun as (
    select log_partition, min(log_offset) as first from arrived join cuts using (log_partition)
    where log_time >= cut group by log_partition
), begun_or_not as (
    select arrived.*, log_offset >= first is true as is_open from arrived left join begun using (log_partition)
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

_MOVED = 'select 1 from new_commits group by "group" having min(log_partition) <> max(log_partition) limit 1'

_RESULTS: tuple[tuple[Table, str], ...] = (
    (KEPT_COMMITS, "select * from marked where kept and not stays"),
    (OPEN_COMMITS, "select * from marked where stays"),
    (
        FINISHED_BUCKETS,
        "select commit_buckets.* from commit_buckets join cuts using (log_partition)"
        " left join open_since using (log_partition)"
        " where bucket < cuts.cut and coalesce(bucket >= open_since.cut, true)",
    ),
)


@repeated
def materialize(store: Store, stopped: Callable[[], bool] = lambda: False) -> int:
    """Bring what is materialized up to the last entry; return the number of commits that were added to it.

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
        files = _Step(rewriter, snapshot, done, at).run() if done else None
        if files is None:
            start, new = -1, snapshot.split_files(COMMITS, -1)[1]
            files = _Step(rewriter, snapshot, None, at).run()
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

    def __init__(self, rewriter: Rewriter, snapshot: Snapshot, done: Entry | None, at: int) -> None:
        self._rewriter, self._snapshot, self._done, self._at = rewriter, snapshot, done, at
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
            rewriter.view("new_commits" if table is COMMITS else table.name, table, files)
        rewriter.view(HEADS.name, HEADS, [*(file for file in heads if (file.last or 0) >= first), *later])
        rewriter.view(COVERAGE.name, COVERAGE, snapshot.files(COVERAGE))
        rewriter.view(OPEN_COMMITS.name, OPEN_COMMITS, self._old(OPEN_COMMITS))
        self._define("late_commits", before or 0)
        if rewriter.value(f"select (select count(*) from late_commits) + (select count(*) from ({_MOVED}))"):
            return None
        rows = sum(file.rows for file in (*new[COMMITS], *self._old(OPEN_COMMITS)))
        found = [*self._merged(KEPT_COMMITS), *self._merged(FINISHED_BUCKETS)]
        parts = -(-rows // ROWS)
        for part in range(parts):
            cuts = fill(relations(["open_since"])["open_since"], literals(sql_literal, self._at))
            cuts = cuts.replace("open_commits", "arrived")
            values = {"parts": str(parts), "part": str(part), "first": str(first), "cuts": cuts}
            rewriter.run(fill(_ARRIVED, values))
            self._define("commit_buckets", self._at, but="recent_commits")
            rewriter.run(fill(_MARKED, values))
            for table, query in _RESULTS:
                columns = ", ".join(f'"{name}"' for name in table.names)
                found += rewriter.write(table, f"select {columns} from ({query})", rows)
        return found

    def _define(self, name: str, at: int, but: str = "") -> None:
        for each, query in relations([name]).items():
            if each != but:
                self._rewriter.define(each, fill(query, literals(sql_literal, at)))

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
