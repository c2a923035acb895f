-- The last known offset of each partition of each group: the last commit in the log, corrected by sweeps of the cluster.
-- The log takes precedence if it has the key. Only a complete sweep, to which every broker responded, shows deletions: a key
-- that the last complete sweep and all later ones did not find, and that is older than the sweep in the log, was deleted, and
-- compaction removed the tombstone. Legacy commits (record type 0) have the same keys as others.
--   is_undecoded  whether the last commit cannot be decoded: its offset is unknown, not that of the commit before
--   source   log; or baseline, if the log does not have the key: log_time is then the time of the sweep
--   gone_at  time of the complete sweep that did not find a key of the log; otherwise null
with places as (
  select `group`, topic, partition, log_partition, log_offset from commits where log_time < $until
  union all
  select `group`, topic, partition, log_partition, log_offset from undecoded_commits where topic is not null
),
last_places as (
  select `group`, topic, partition, log_partition, max(log_offset) as log_offset
  from places
  group by `group`, topic, partition, log_partition
),
all_written as (
  select
    `group`, topic, partition, log_partition, log_offset, log_time, committed_offset, leader_epoch, metadata, commit_time,
    expire_time, topic_id, tombstone, false as is_undecoded
  from commits
  union all
  select
    `group`, topic, partition, log_partition, log_offset, log_time, committed_offset, leader_epoch, metadata, commit_time,
    expire_time, topic_id, tombstone, true as is_undecoded
  from undecoded_commits
),
written as (
  select *
  from all_written
  semi join last_places using (log_partition, log_offset)
  -- A group is in one partition of the log; otherwise the highest one counts.
  qualify row_number() over (partition by `group`, topic, partition order by log_partition desc) = 1
),
found as (
  select `group`, topic, partition, swept_at, committed_offset, leader_epoch, metadata
  from swept
  where topic is not null and committed_offset is not null
  qualify row_number() over (partition by `group`, topic, partition order by swept_at desc) = 1
)
select
  `group`,
  topic,
  partition,
  log_partition,
  log_offset,
  coalesce(log_time, swept_at) as log_time,
  case when log_offset is null then found.committed_offset else written.committed_offset end as committed_offset,
  case when log_offset is null then found.leader_epoch else written.leader_epoch end as leader_epoch,
  case when log_offset is null then found.metadata else written.metadata end as metadata,
  commit_time,
  expire_time,
  topic_id,
  coalesce(tombstone, false) as tombstone,
  coalesce(is_undecoded, false) as is_undecoded,
  case when log_offset is null then 'baseline' else 'log' end as source,
  case when log_time < last_sweep and swept_at is null then last_sweep end as gone_at
from written
full join found using (`group`, topic, partition)
cross join last_sweep
