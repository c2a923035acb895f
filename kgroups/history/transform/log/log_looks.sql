-- Each partition of the log in each batch:
--   is_batch        whether something was read
--   is_end          whether it was read to its end
--   batch_complete  as in coverage
with found as (
  select
    log_partition,
    sampled_at,
    max(to_offset) as to_offset,
    max(last_stable_offset) as last_stable_offset,
    max(last_time) as last_time,
    bool_or(to_offset > from_offset) as is_batch,
    bool_and(batch_complete) as batch_complete
  from coverage
  group by log_partition, sampled_at
)
select
  log_partition,
  sampled_at,
  last_time,
  is_batch,
  coalesce(
    to_offset >= last_stable_offset
    -- A row with an empty range only shows where the log ended: the offsets before it may be unread.
    and coalesce(to_offset <= max(case when is_batch then to_offset end) over (partition by log_partition), true),
    false
  ) as is_end,
  batch_complete
from found
