-- Commits in the span that are lower than the previous one. A tombstone has no offset, so the commit after it is no rewind; nor
-- is one of another topic with the same name, which has another ID.
with steps as (
  select
    *,
    lag(committed_offset) over (
      partition by `group`, topic, partition order by log_partition, log_offset
    ) as expected,
    coalesce(
      topic_id <> lag(topic_id) over (
        partition by `group`, topic, partition order by log_partition, log_offset
      ),
      false
    ) as recreated
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
where committed_offset < expected and not recreated and log_time >= $since
