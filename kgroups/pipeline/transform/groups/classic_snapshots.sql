-- Classic groups, from the records of their coordinators: each is a snapshot of the group with its members. A coordinator writes
-- one when a rebalance is complete, when the last member has left, and, in the same generation, when a static member returns
-- with a new member ID without a rebalance.
--   snapshot             number in the group, from 1
--   next_time            log time of the next snapshot; null for the last
--   previous_generation  null if unknown, and after a tombstone
--   begins               whether it is the first of a new group
select
  *,
  'classic' as kind,
  case when tombstone then 'Dead' when member_count = 0 then 'Empty' else 'Stable' end as state,
  row_number() over written as snapshot,
  lead(log_time) over written as next_time,
  lag(generation) over written as previous_generation,
  generation <= 1 or coalesce(lag(tombstone) over written, false) as begins
from group_metadata
where log_time < $until
window written as (partition by `group` order by log_partition, log_offset)
