-- The commits that this version cannot decode, with the columns of commits: an offset was committed, but it is unknown. topic is
-- null if an earlier version stored them.
select
  log_partition,
  log_offset,
  log_time,
  `group`,
  topic,
  partition,
  cast(null as bigint) as committed_offset,
  cast(null as int) as leader_epoch,
  cast(null as string) as metadata,
  cast(null as timestamptz) as commit_time,
  cast(null as timestamptz) as expire_time,
  cast(null as string) as topic_id,
  tombstone
from undecoded
where record_type in (0, 1) and `group` is not null and reason is not null and log_time < $until
