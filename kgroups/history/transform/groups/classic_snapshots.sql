-- Classic groups, from the records of their coordinators: each is a snapshot of the group with its members. A coordinator writes
-- one when a rebalance is complete, when the last member has left, and, in the same generation, when a static member returns
-- with a new member ID without a rebalance.
--   snapshot             number in the group, from 1
--   next_time            log time of the next snapshot; null for the last
--   previous_generation  null if unknown, and after a tombstone
--   is_round             whether it is known which of the two it is: the first one of a group with static members may follow
--                        others that compaction deleted
--   begins               whether it is the first of a new group
--   follows              whether no record that cannot be decoded is between it and the one before it
--   is_followed          likewise, and the one after it; also of the last
with static_snapshots as (
  select distinct log_partition, log_offset from members where kind = 'classic' and instance_id is not null
),
steps as (
  select `group`, log_partition, log_offset, true as is_decoded from group_metadata where log_time < $until
  union all
  select `group`, log_partition, log_offset, false as is_decoded from undecoded_groups
),
compared as (
  select
    log_partition,
    log_offset,
    coalesce(lag(is_decoded) over written, true) as follows,
    coalesce(lead(is_decoded) over written, true) as is_followed
  from steps
  window written as (partition by `group` order by log_partition, log_offset)
),
marked as (
  select group_metadata.*, follows, is_followed, static_snapshots.log_offset is null or whole_logs.log_partition is not null as is_certain
  from group_metadata
  join compared using (log_partition, log_offset)
  left join static_snapshots using (log_partition, log_offset)
  left join whole_logs using (log_partition)
  where log_time < $until
)
select
  *,
  'classic' as kind,
  case when tombstone then 'Dead' when member_count = 0 then 'Empty' else 'Stable' end as state,
  row_number() over written as snapshot,
  lead(log_time) over written as next_time,
  lag(generation) over written as previous_generation,
  is_certain or row_number() over written > 1 as is_round,
  (generation <= 1 and (is_certain or row_number() over written > 1)) or coalesce(lag(tombstone) over written, false) as begins
from marked
window written as (partition by `group` order by log_partition, log_offset)
