-- Commits in the span that are lower than the previous one. A tombstone has no offset, so the commit after it is no rewind.
with steps as (
  select
    *,
    lag(committed_offset) over (
      partition by `group`, topic, partition order by log_partition, log_offset
    ) as expected
  from recent_commits
)
select
  'rewind' as anomaly,
  `group`,
  log_time as since,
  log_time as until,
  topic,
  partition,
  log_partition,
  log_offset,
  expected,
  committed_offset as found,
  'went back by ' || (expected - committed_offset) as note
from steps
where committed_offset < expected and log_time >= $since
