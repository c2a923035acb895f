-- Until when each partition of the log was read, at most to the end of the span; null in log_partition: all partitions.
-- A batch has a range of each partition with new records: if its ranges reach the last stable offset, all partitions are read.
with looks as (
  select
    log_partition,
    sampled_at,
    max(to_offset) as to_offset,
    max(last_stable_offset) as last_stable_offset,
    max(last_time) as last_time,
    bool_or(to_offset > from_offset) as is_batch
  from coverage
  group by log_partition, sampled_at
),
reached as (
  select
    *,
    coalesce(
      to_offset >= last_stable_offset
      -- A row with an empty range only shows where the log ended: the offsets before it may be unread.
      and coalesce(to_offset <= max(case when is_batch then to_offset end) over (partition by log_partition), true),
      false
    ) as is_end
  from looks
),
batches as (
  select sampled_at from reached group by sampled_at having bool_and(is_batch and is_end)
),
times as (
  select log_partition, case when is_end then sampled_at else last_time end as read_until from reached
  union all
  select cast(null as int) as log_partition, sampled_at as read_until from batches
)
select log_partition, least(max(read_until), $until) as read_until
from times
where read_until is not null
group by log_partition
