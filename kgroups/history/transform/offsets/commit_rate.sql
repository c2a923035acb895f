-- The buckets from the one that contains the start of the span on; finished ones as they are materialized.
with found as (
  select `group`, log_partition, bucket, commits, requests, partitions, progress, rewound
  from commit_buckets
  anti join finished_buckets using (`group`, bucket)
  union all
  select
    `group`,
    log_partition,
    bucket,
    commits,
    requests,
    partitions,
    case when written.known_since is not distinct from completeness.known_since then progress else all_progress end,
    case when written.known_since is not distinct from completeness.known_since then rewound else all_rewound end
  from finished_buckets as written
  left join completeness using (log_partition)
  where bucket >= $bucket_since
),
-- The buckets with a commit that cannot be decoded, which is not counted.
undecoded_buckets as (
  select distinct
    `group`, make_timestamptz(epoch_us(log_time) - epoch_us(log_time) % $bucket_us) as bucket, true as is_undecoded
  from undecoded_commits
)
select
  found.*,
  coalesce(
    is_undecoded is null and bucket >= known_since and make_timestamptz(epoch_us(bucket) + $bucket_us) <= coalesce(unread_since, $until), false
  ) as complete
from found
left join completeness using (log_partition)
left join undecoded_buckets using (`group`, bucket)
