-- The groups that the last complete sweep did not find, without later records.
with seen as (
  select `group`, max(log_time) as log_time
  from (
    select `group`, log_time from commits where log_time < $until
    union all
    select `group`, log_time from undecoded_commits
    union all
    select `group`, last_event as log_time from last_events
  ) as records
  group by `group`
)
select `group`, last_sweep as gone_at
from seen
anti join swept using (`group`)
cross join last_sweep
where log_time < last_sweep
