with found as (
  select * from rounds where log_time >= $since
),
-- The group's last commit before a rebalance, and its first commit after it, in the order of the log.
records as (
  select `group`, log_partition, log_offset, cast(null as bigint) as committed_us, true as is_round from found
  union all
  select `group`, log_partition, log_offset, epoch_us(log_time) as committed_us, false as is_round
  from commits
  semi join found using (`group`)
  where log_time < $until and not tombstone
  union all
  select `group`, log_partition, log_offset, epoch_us(log_time) as committed_us, false as is_round
  from undecoded_commits
  semi join found using (`group`)
),
nearest as (
  select
    *,
    last_value(committed_us ignore nulls) over (
      partition by `group` order by log_partition, log_offset rows between unbounded preceding and current row
    ) as us_before,
    last_value(committed_us ignore nulls) over (
      partition by `group` order by log_partition desc, log_offset desc rows between unbounded preceding and current row
    ) as us_after
  from records
),
-- Whether the members are known that a rebalance is compared with.
marks as (
  select `group`, log_partition, log_offset, cast(null as boolean) as is_whole, 0 as place from rounds
  union all
  select `group`, log_partition, log_offset, false as is_whole, 1 as place from undecoded_groups
  union all
  select `group`, log_partition, log_offset, true as is_whole, 1 as place from whole_records
),
compared as (
  select
    *,
    last_value(is_whole ignore nulls) over (
      partition by `group` order by log_partition, log_offset, place rows between unbounded preceding and current row
    ) as after_whole
  from marks
),
pauses as (
  select log_partition, log_offset, (us_after - us_before) // 1000 as pause_ms from nearest where is_round
),
known as (
  select log_partition, log_offset, coalesce(after_whole, true) as is_known from compared where place = 0
)
select
  found.*,
  pause_ms,
  is_round and is_known and coalesce(log_time >= known_since, false) as complete
from found
join pauses using (log_partition, log_offset)
join known using (log_partition, log_offset)
left join completeness using (log_partition)
