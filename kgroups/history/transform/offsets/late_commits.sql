-- The new commits that belong before what is materialized, and those of groups that were in another partition of the log.
with places as (
  select `group`, max(log_partition) as place from open_commits group by `group`
)
select new_commits.*
from new_commits
left join open_since using (log_partition)
left join places using (`group`)
where log_offset <= reach or log_time < cut or log_partition <> place
