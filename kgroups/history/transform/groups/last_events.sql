-- The last record of each group and its members; commits are not among them.
select `group`, max(log_time) as last_event
from (
  select `group`, log_time from group_metadata
  union all
  select `group`, log_time from members
  union all
  select `group`, log_time from epochs
  union all
  select `group`, log_time from undecoded_groups
) as records
where log_time < $until
group by `group`
