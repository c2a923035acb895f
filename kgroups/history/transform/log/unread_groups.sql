-- The groups of stalled partitions, since when their records are unread, and a remark for users.
with stalled as (
  select log_partition, unread_since from stalls where unread_since is not null
),
found as (
  select `group`, log_partition from commits semi join stalled using (log_partition)
  union
  select `group`, log_partition from undecoded_commits semi join stalled using (log_partition)
  union
  select `group`, log_partition from group_metadata semi join stalled using (log_partition)
  union
  select `group`, log_partition from members semi join stalled using (log_partition)
  union
  select `group`, log_partition from epochs semi join stalled using (log_partition)
  union
  select `group`, log_partition from undecoded_groups semi join stalled using (log_partition)
  union
  select `group`, log_partition from baseline semi join stalled using (log_partition)
)
select
  `group`,
  unread_since,
  concat(
    'unknown: an open transaction hides the records after the last one read of __consumer_offsets-', log_partition
  ) as unread_remark
from found
join stalled using (log_partition)
qualify row_number() over (partition by `group` order by log_partition desc) = 1
