"""Delete old rows, except what is still in effect: queries for later times have the same result as before.

Definition: a record is in effect until the next record of its key. What is kept of the time before the limit:

- records of the log that are in effect at the limit, with all their rows; and of each group all records since its last
  rebalance, which the next one is compared with, its last commit, its last event, and what makes its state unknown. Of
  groups that were deleted, nothing; of members that left, nothing.
- the last complete sweep, what later sweeps found, and the last known retention time of offsets.
- the samples of log end offsets next to a commit that is kept: lag in time follows from them.
- the last range that was read of each partition of the log, how far its end was, and when it was last read; and when
  all partitions were last read.
- of each state of a share group the last snapshot, what followed it, and the ranges in which they were read.

From then on, history is known since the limit. What the range says of the time before is kept: since when the
commits before the limit are the last ones of their keys, and whether a batch read all partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ..load.manifest import DataFile
from ..load.sql import sql_literal
from ..load.store import GRACE, Store
from ..materialized import literals
from ..tables import BASELINE, COVERAGE, HEADS, RECORDS, SHARE_COVERAGE, SHARE_STATES, STORED, SWEEPS
from ..transform.definitions import fill, relations
from .compact import by_folder
from .rewrite import TABLES, Elsewhere, Part, Rewriter, repeated

_KEPT = """
create temp table events as
select 'commits' as source, log_partition, log_offset, log_time, tombstone, "group", cast(null as varchar) as kind,
    [topic, cast("partition" as varchar)] as key, true as lasting from commits
union all select 'commits', log_partition, log_offset, log_time, tombstone, "group", null,
    [topic, cast("partition" as varchar)], true from undecoded
    where record_type in (0, 1) and "group" is not null and topic is not null
union all select 'group_metadata', log_partition, log_offset, log_time, tombstone, "group", 'classic', [], true
    from group_metadata
union all select 'members', log_partition, log_offset, log_time, tombstone, "group", kind, [kind, member_id], false
    from members where kind <> 'classic'
union all select 'epochs', log_partition, log_offset, log_time, tombstone, "group", kind, [kind, subject, member_id],
    member_id is null from epochs
union all select distinct 'assignments', log_partition, log_offset, log_time, tombstone, "group", kind,
    [kind, member_id], false from assignments where kind <> 'classic' and role like 'target%';

create temp table rebalances as
with generations as (
    select log_partition, log_offset, log_time, "group", 'classic' as kind, if(tombstone, -1, generation) as generation
        from group_metadata
    union all select log_partition, log_offset, log_time, "group", kind, if(tombstone, -1, epoch)
        from epochs where subject = 'group'
), changes as (
    select *, generation is distinct from lag(generation) over (
        partition by log_partition, "group", kind order by log_offset) as changed from generations
)
select log_partition, "group", kind, max(log_offset) as since from changes where changed and log_time < {limit}
group by all;

create temp table aged as
select events.*, coalesce(log_time < {limit}, false) as early,
    early and (source in ('commits', 'assignments') or since is null or log_offset < since) as old
from events left join rebalances using (log_partition, "group", kind);

create temp table successors as
select *, lead(old) over (partition by source, log_partition, "group", key order by log_offset) as next_old from aged;

create temp table swept as
select max(swept_at) filter (where complete) as complete_at,
    max(swept_at) filter (where offsets_retention_ms is not null) as asked_at
from (
    select swept_at, complete, offsets_retention_ms from sweeps
    union all select swept_at, complete, null from baseline
) where swept_at < {limit};

create temp table kept_baseline as
select "group", topic, "partition", committed_offset, swept_at from baseline, swept
where swept_at >= {limit} or complete_at is null or swept_at >= complete_at
qualify complete or swept_at >= {limit}
    or row_number() over (partition by swept_at < {limit}, "group", topic, "partition" order by swept_at desc) = 1;

create temp table blurs as
with lasts as (
    select log_partition, "group", max(log_offset) as last_whole,
        max(log_offset) filter (where log_time < {limit}) as early_whole
    from whole_records group by all
)
select log_partition, "group", log_offset, log_time < {limit} as early,
    coalesce(log_offset > last_whole, true) as lasting
from undecoded_groups left join lasts using (log_partition, "group")
where early_whole is null or log_offset > early_whole;

create temp table alive as
select "group" from successors
    where not early or (next_old is null and not tombstone and source <> 'assignments')
union select "group" from kept_baseline
union select "group" from blurs where lasting;

create temp table kept as
select log_partition, log_offset from successors semi join alive using ("group")
    where early and (not old or (next_old is not true and (lasting or not tombstone)))
union select log_partition, max_by(log_offset, row(log_time, log_offset)) from aged semi join alive using ("group")
    where early group by source, "group", log_partition
union select log_partition, max(log_offset) from aged semi join alive using ("group")
    where early and source = 'commits' and not tombstone group by "group", log_partition
union select log_partition, unnest([min(log_offset), max(log_offset)]) from blurs semi join alive using ("group")
    where early group by "group", log_partition;

create temp table kept_ranges as
select log_partition, from_offset, to_offset, sampled_at from coverage
where sampled_at < {limit} and to_offset > from_offset
qualify row_number() over (partition by log_partition order by to_offset desc, from_offset desc) = 1;

create temp table kept_ends as
from (
    from (
        select * from coverage where sampled_at < {limit} and last_stable_offset is not null
        qualify last_stable_offset = max(last_stable_offset) over (partition by log_partition)
    )
    qualify row_number() over (partition by log_partition order by high_watermark desc nulls last) = 1
        or row_number() over (partition by log_partition order by unread_since desc nulls last) = 1
        or row_number() over (partition by log_partition order by sampled_at desc) = 1
)
union all (
    from coverage where sampled_at = (select max(sampled_at) from whole_batches where sampled_at < {limit})
    order by log_partition, from_offset limit 1
);

create temp table cut_ranges as
select log_partition, from_offset, to_offset, sampled_at,
    coalesce(max(linked_since) over of_run, min(known_since) over of_run) as linked
from ranges
window of_run as (partition by log_partition, run)
qualify (compacted is null and first_time < {limit}) or known_since < {limit};

create temp table kept_states as
select log_partition, log_offset from (
    from share_states where log_time < {limit}
    qualify log_offset >= max(log_offset) filter (where record_name = 'snapshot')
        over (partition by "group", topic_id, "partition")
) where not tombstone;

create temp table ends as
with samples as (
    select *, log_end < lag(log_end) over (partition by topic, "partition" order by sampled_at) as back
    from heads where log_end is not null and sampled_at < {limit}
), lives as (
    select *, coalesce(sum(if(back, 1, 0)) over (partition by topic, "partition" order by sampled_at), 0) as life
    from samples
)
select topic, "partition", log_end, min(sampled_at) as first_at, max(sampled_at) as last_at
from (from lives qualify life = max(life) over (partition by topic, "partition")) group by all;

create temp table kept_heads as
with offsets as (
    select topic, "partition", committed_offset from commits
        where committed_offset is not null and (coalesce(log_time >= {limit}, true)
            or exists (from kept where kept.log_partition = commits.log_partition
                and kept.log_offset = commits.log_offset))
    union select topic, "partition", committed_offset from kept_baseline where committed_offset is not null
)
select topic, "partition", max(last_at) as sampled_at from ends group by all
union select offsets.topic, offsets."partition", last_at from offsets asof join ends
    on offsets.topic = ends.topic and offsets."partition" = ends."partition" and committed_offset >= log_end
union select offsets.topic, offsets."partition", first_at from offsets asof join ends
    on offsets.topic = ends.topic and offsets."partition" = ends."partition" and committed_offset < log_end;
"""

_BEGIN_LOST = """
create temp table remaining_coverage as select log_partition, from_offset, to_offset from coverage
where to_offset > from_offset and (sampled_at >= {limit} or exists (from kept_ranges as each
    where each.log_partition = coverage.log_partition and each.sampled_at = coverage.sampled_at
    and each.from_offset = coverage.from_offset and each.to_offset = coverage.to_offset));

create temp table remaining_share_coverage as select log_partition, from_offset, to_offset from share_coverage
where sampled_at >= {limit} or exists (from kept_states as each where each.log_partition = share_coverage.log_partition
    and each.log_offset >= share_coverage.from_offset and each.log_offset < share_coverage.to_offset);

create temp table lost (name varchar, log_partition int, from_offset bigint, to_offset bigint, rows bigint);
"""

_COUNT_LOST = """
with deleted as (
    select log_partition, log_offset from part where log_time < {limit} and not exists (
        from {kept} as each where each.log_partition = part.log_partition and each.log_offset = part.log_offset)
), ends as (select log_partition, max(log_offset) as last from deleted group by log_partition),
ranges as (select distinct each.* from remaining_{ranges} as each join ends using (log_partition)
    where from_offset <= last)
select '{ranges}', log_partition, from_offset, to_offset, count(*) from ranges join deleted using (log_partition)
where log_offset >= from_offset and log_offset < to_offset group by all;
"""

_RANGES = {RECORDS.name: (COVERAGE.name, "kept"), SHARE_STATES.name: (SHARE_COVERAGE.name, "kept_states")}
"""Table of records -> the ranges in which they were read, and the places of the records that are kept."""
_LOST_FROM = {name for name, _ in _RANGES.values()}
"""The tables of ranges, which count the records that are left."""

_LEFT = """coalesce(
    records - (select sum(rows) from lost where lost.name = '{ranges}' and lost.log_partition = {part}.log_partition
    and lost.from_offset = {part}.from_offset and lost.to_offset = {part}.to_offset), records)"""
"""The number of records of a range that are left."""

_OF_LOG = """
select * from part where coalesce(log_time >= {limit}, true)
    or exists (from kept where kept.log_partition = part.log_partition and kept.log_offset = part.log_offset)
"""

_ROWS = {
    HEADS.name: "select * from part where sampled_at >= {limit} or exists (from kept_heads as each"
    ' where each.topic = part.topic and each."partition" = part."partition" and each.sampled_at = part.sampled_at)',
    BASELINE.name: "select * from part where exists (from kept_baseline as each where each.swept_at = part.swept_at"
    ' and each."group" = part."group" and each.topic is not distinct from part.topic'
    ' and each."partition" is not distinct from part."partition")',
    SHARE_STATES.name: "select * from part where coalesce(log_time >= {limit}, true)"
    " or exists (from kept_states as each where each.log_partition = part.log_partition"
    " and each.log_offset = part.log_offset)",
    SHARE_COVERAGE.name: f"select * replace ({_LEFT.format(ranges=SHARE_COVERAGE.name, part='part')} as records)"
    " from part where sampled_at >= {limit}"
    " or exists (from kept_states as each where each.log_partition = part.log_partition"
    " and each.log_offset >= part.from_offset and each.log_offset < part.to_offset)",
    SWEEPS.name: "select part.* from part, swept where swept_at >= {limit} or swept_at >= complete_at"
    " or swept_at = asked_at",
    COVERAGE.name: """
with chosen as (
    select part.*, linked, cut_ranges.sampled_at is not null as cut,
        coalesce(compacted > 0 and whole_since < {limit}, false) as whole,
        part.sampled_at < {limit} and not exists (from kept_ranges as each where _IS_SAME_) as empty
    from part left join cut_ranges on part.log_partition = cut_ranges.log_partition
        and part.sampled_at = cut_ranges.sampled_at and part.from_offset = cut_ranges.from_offset
        and part.to_offset = cut_ranges.to_offset
    where part. sampled_at >= {limit} or exists (from kept_ranges as each where _IS_SAME_)
        or exists (from kept_ends as each where _IS_SAME_)
)
select * exclude (linked, cut, whole, empty) replace (
    if(empty, to_offset, from_offset) as from_offset,
    if(empty, 0, if(compacted is null, records, _LEFT_)) as records,
    if(empty, null, if(cut and first_time < {limit}, {limit}, first_time)) as first_time,
    if(empty, null, last_time) as last_time,
    if(empty, null, if(whole, 0, compacted)) as compacted,
    if(empty or whole, null, compacted_to) as compacted_to,
    if(empty or whole, null, whole_since) as whole_since,
    if(empty, null, if(cut, linked, linked_since)) as linked_since,
    if(sampled_at < {limit}, coalesce(batch_complete, sampled_at in (from whole_batches)), batch_complete)
        as batch_complete
) from chosen
""".replace(
        "_IS_SAME_",
        "each.log_partition = part.log_partition and each.sampled_at = part.sampled_at"
        " and each.from_offset = part.from_offset and each.to_offset = part.to_offset",
    ).replace("_LEFT_", _LEFT.format(ranges=COVERAGE.name, part="chosen")),
}


_RELATIONS = (
    "kept", "kept_heads", "kept_baseline", "kept_states", "swept", "remaining_coverage", "remaining_share_coverage",
)  # fmt: skip
"""What the queries of tables other than ranges read."""


@repeated
def expire(
    store: Store,
    older_than: datetime,
    *,
    grace: timedelta = GRACE,
    stopped: Callable[[], bool] = lambda: False,
    elsewhere: Elsewhere | None = None,
) -> int:
    """Delete rows before a time that are not in effect then; return the number of entries.

    :param elsewhere: rewrites the files; default: this process.
    :raises HistoryError: if the store cannot be read or written; it is then unchanged.
    """
    store.delete_replaced(grace)
    snapshot = store.snapshot()
    if not snapshot.entries:
        return 0
    limit = f"timestamptz '{older_than.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00'"
    micros = (older_than - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    found: list[DataFile] = []
    parts: list[Part] = []
    ranges: list[Part] = []
    for (name, *_), files in by_folder(snapshot).items():
        are_ranges = name in _LOST_FROM
        is_later = all(file.first is None or file.first >= micros for file in files)
        if name not in TABLES or (is_later and not are_ranges):
            found += files
            continue
        counts = None
        if name in _RANGES:
            covered, kept = _RANGES[name]
            counts = _COUNT_LOST.format(limit=limit, ranges=covered, kept=kept)
        query = _ROWS.get(name, _OF_LOG).format(limit=limit)
        (ranges if are_ranges else parts).append(Part(name, tuple(files), query, are_ranges, counts))
    with Rewriter(store, stopped) as rewriter:
        for table in STORED:
            if table == RECORDS:  # kept by their position only
                continue
            rewriter.view(table.name, table, snapshot.files(table))
        for name, query in relations(["ranges", "whole_batches", "undecoded_groups", "whole_records"]).items():
            rewriter.define(name, fill(query, literals(sql_literal, 0)))
        rewriter.run(_KEPT.format(limit=limit) + _BEGIN_LOST.format(limit=limit))
        for rewritten in rewriter.rewrite_all(parts, elsewhere, _RELATIONS):
            found += rewritten.files
            rewriter.insert("lost", rewritten.counts)
        for rewritten in rewriter.rewrite_all(ranges):  # in a range, also the time or the number of records can change
            found += rewritten.files
        return rewriter.replace(snapshot, found, snapshot.expired_with(older_than))
