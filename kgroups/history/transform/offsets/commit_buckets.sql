-- The rows of commit_rate, without complete; all_progress and all_rewound: as if history were complete from the start.
with counted as (
  select
    *,
    -- Before history is complete, one commit may remain of many: the step from it does not belong to a known bucket.
    case when was_unknown and log_time >= known_since then null else step end as known_step,
    make_timestamptz(epoch_us(log_time) - epoch_us(log_time) % $bucket_us) as bucket
  from commit_steps
  where not tombstone and log_time >= $bucket_since
)
select
  `group`,
  max(log_partition) as log_partition,
  bucket,
  count(*) as commits,
  count(distinct commit_time) as requests,
  count(distinct concat(topic, '/', partition)) as partitions,
  sum(case when known_step > 0 then known_step when known_step <= 0 then 0 end) as progress,
  sum(case when known_step < 0 then -known_step when known_step >= 0 then 0 end) as rewound,
  sum(case when step > 0 then step when step <= 0 then 0 end) as all_progress,
  sum(case when step < 0 then -step when step >= 0 then 0 end) as all_rewound,
  max(known_since) as known_since
from counted
group by `group`, bucket
