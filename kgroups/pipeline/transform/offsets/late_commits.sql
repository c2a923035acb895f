-- The new commits that belong before what is materialized.
select new_commits.*
from new_commits
join open_since using (log_partition)
where log_offset <= reach or log_time < cut
