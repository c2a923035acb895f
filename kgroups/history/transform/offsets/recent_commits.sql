-- The commits from the first one in the first bucket of the span on, in the order of the log, and the last one of each key before it.
-- A commit without a time is in no bucket, so that the step over it belongs to the commit after it.
with starts as (
  select log_partition, min(log_offset) as first_offset
  from commits
  where log_time >= $bucket_since and log_time < $until
  group by log_partition
),
last_places as (
  select `group`, topic, partition, log_partition, max(log_offset) as log_offset
  from commits
  join starts using (log_partition)
  where log_offset < first_offset and log_time < $until
  group by `group`, topic, partition, log_partition
)
select commits.*
from commits
join starts using (log_partition)
where log_offset >= first_offset and log_time < $until
union all
select *
from commits
semi join last_places using (log_partition, log_offset)
