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
pauses as (
  select log_partition, log_offset, (us_after - us_before) // 1000 as pause_ms from nearest where is_round
)
select found.*, pause_ms, is_round and coalesce(log_time >= known_since, false) as complete
from found
join pauses using (log_partition, log_offset)
left join completeness using (log_partition)
