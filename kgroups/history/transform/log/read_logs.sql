-- Until when each partition of the log was read, at most to the end of the span; null in log_partition: all partitions.
with times as (
  select log_partition, case when is_end then sampled_at else last_time end as read_until from log_looks
  union all
  select cast(null as int) as log_partition, sampled_at as read_until from whole_batches
)
select log_partition, least(max(read_until), $until) as read_until
from times
where read_until is not null
group by log_partition
