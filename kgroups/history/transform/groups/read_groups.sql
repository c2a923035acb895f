-- Until when the log was read of the partition of each group.
with places as (
  select `group`, log_partition from commits
  union
  select `group`, log_partition from undecoded_commits
  union
  select `group`, log_partition from group_metadata
  union
  select `group`, log_partition from members
  union
  select `group`, log_partition from epochs
  union
  select `group`, log_partition from undecoded_groups
  union
  select `group`, log_partition from baseline
),
everywhere as (
  select max(read_until) as all_until from read_logs where log_partition is null
)
select `group`, max(greatest(read_until, all_until)) as read_until
from places
left join read_logs using (log_partition)
cross join everywhere
group by `group`
