-- When the log end offset passed the committed offsets: passed_at, from samples of the log end; no record is read.
-- Assumes steady growth between two samples; if the log end offset was unchanged for several samples, growth starts at the
-- last of them: grew_from. Null before the first sample, and if no later log end offset is known.
with asked as (
  select distinct topic, partition, life, committed_offset from samples where lag > 0
),
-- Ends before the one below the lowest offset are not needed.
lowest as (
  select topic, partition, life, min(committed_offset) as lowest from asked group by topic, partition, life
),
bounds as (
  select topic, partition, life, lowest, max(case when log_end <= lowest then log_end end) as first_end
  from marked_heads
  join lowest using (topic, partition, life)
  group by topic, partition, life, lowest
),
points as (
  select topic, partition, life, log_end, min(sampled_at) as first_at, max(sampled_at) as last_at, 0 as is_commit
  from marked_heads
  join bounds using (topic, partition, life)
  where log_end >= coalesce(first_end, lowest)
  group by topic, partition, life, log_end
  union all
  select topic, partition, life, committed_offset, cast(null as timestamptz), cast(null as timestamptz), 1
  from asked
),
-- The last end at or below the offset, and the next one above it: within a life, times grow with offsets.
nearest as (
  select
    topic,
    partition,
    life,
    log_end as committed_offset,
    is_commit,
    max(case when is_commit = 0 then log_end end) over (
      partition by topic, partition, life order by log_end, is_commit rows between unbounded preceding and current row
    ) as end_below,
    max(last_at) over (
      partition by topic, partition, life order by log_end, is_commit rows between unbounded preceding and current row
    ) as below_at,
    min(case when is_commit = 0 then log_end end) over (
      partition by topic, partition, life order by log_end desc, is_commit desc
      rows between unbounded preceding and current row
    ) as end_above,
    min(first_at) over (
      partition by topic, partition, life order by log_end desc, is_commit desc
      rows between unbounded preceding and current row
    ) as above_at
  from points
)
select
  topic,
  partition,
  life,
  committed_offset,
  below_at as grew_from,
  -- A product of integers may exceed 64 bits; that of doubles is the same in every engine.
  make_timestamptz(
    epoch_us(below_at)
    + cast(
      floor(
        cast(committed_offset - end_below as double) * cast(epoch_us(above_at) - epoch_us(below_at) as double)
        / cast(end_above - end_below as double)
      ) as bigint
    )
  ) as passed_at
from nearest
where is_commit = 1
