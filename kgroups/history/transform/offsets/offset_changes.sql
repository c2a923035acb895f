-- All changes of committed offsets since the first sample, and the last one before it.
--   changed_at        time of the change
--   committed_offset  null if it was deleted
--   is_undecoded      1 if the commit cannot be decoded: the offset is unknown
--   swept             1 for a result of a sweep, which is after the last record
with first_sample as (
  select min(sampled_at) as first_time from span_heads
),
all_written as (
  select
    `group`, topic, partition, log_partition, log_offset, log_time, committed_offset, topic_id, 0 as is_undecoded
  from commits
  union all
  select
    `group`, topic, partition, log_partition, log_offset, log_time, committed_offset, topic_id, 1 as is_undecoded
  from undecoded_commits
  where topic is not null
),
last_places as (
  select `group`, topic, partition, log_partition, max(log_offset) as log_offset
  from all_written
  cross join first_sample
  where log_time < first_time
  group by `group`, topic, partition, log_partition
  qualify row_number() over (partition by `group`, topic, partition order by log_partition desc) = 1
)
select
  `group`, topic, partition, log_partition, log_offset, log_time as changed_at, committed_offset, topic_id, is_undecoded, 0 as swept
from all_written
semi join last_places using (log_partition, log_offset)
union all
select
  `group`, topic, partition, log_partition, log_offset, log_time as changed_at, committed_offset, topic_id, is_undecoded, 0 as swept
from all_written
cross join first_sample
where log_time >= first_time and log_time < $until
union all
select
  `group`,
  topic,
  partition,
  log_partition,
  log_offset,
  coalesce(gone_at, log_time) as changed_at,
  case when gone_at is null then committed_offset end as committed_offset,
  topic_id,
  0 as is_undecoded,
  1 as swept
from last_offsets
where source = 'baseline' or (gone_at is not null and not tombstone)
