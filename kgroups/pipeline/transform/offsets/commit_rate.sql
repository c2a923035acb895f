with steps as (
  select
    `group`,
    topic,
    partition,
    commit_time,
    log_time,
    tombstone,
    known_since,
    unread_since,
    -- A tombstone has no offset, so the commit after it has no step.
    committed_offset - lag(committed_offset) over earlier as step,
    lag(log_time) over earlier < known_since as was_unknown
  from recent_commits
  left join completeness using (log_partition)
  window earlier as (partition by `group`, topic, partition order by log_partition, log_offset)
),
counted as (
  select
    *,
    -- Before history is complete, one commit may remain of many: the step from it does not belong to a known bucket.
    case when was_unknown and log_time >= known_since then null else step end as known_step,
    make_timestamptz(epoch_us(log_time) - epoch_us(log_time) % $bucket_us) as bucket
  from steps
  where not tombstone and log_time >= $since
)
select
  `group`,
  bucket,
  count(*) as commits,
  count(distinct commit_time) as requests,
  count(distinct concat(topic, '/', partition)) as partitions,
  sum(case when known_step > 0 then known_step when known_step <= 0 then 0 end) as progress,
  sum(case when known_step < 0 then -known_step when known_step >= 0 then 0 end) as rewound,
  coalesce(
    bucket >= max(known_since)
    and bucket >= $since
    and make_timestamptz(epoch_us(bucket) + $bucket_us) <= coalesce(max(unread_since), $until),
    false
  ) as complete
from counted
group by `group`, bucket
