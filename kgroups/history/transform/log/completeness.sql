-- The known history of a partition is its last run of contiguous ranges that are complete but for the start of the first.
with runs as (
  select
    log_partition,
    run,
    max(run) over (partition by log_partition) as last_run,
    min(from_offset) as from_offset,
    max(to_offset) as to_offset,
    sum(records) as records,
    sum(to_offset - from_offset) as offsets,
    sum(greatest(from_offset - reach, 0)) as missing,
    min(known_since) as known_since,
    max(last_time) as last_time
  from ranges
  group by log_partition, run
),
partitions as (
  select
    log_partition,
    min(from_offset) as from_offset,
    max(to_offset) as to_offset,
    sum(records) as records,
    sum(records) / nullif(sum(offsets), 0) as density,
    sum(missing) as missing,
    max(case when run = last_run then known_since end) as known_since,
    max(last_time) as last_time
  from runs
  group by log_partition
)
select
  log_partition,
  from_offset,
  to_offset,
  coalesce(records, 0) as records,
  density,
  coalesce(missing, 0) as missing,
  known_since,
  last_time,
  coalesce(hung, 0) as hung,
  unread_since
from partitions
full join stalls using (log_partition)
