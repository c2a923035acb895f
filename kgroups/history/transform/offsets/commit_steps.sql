-- The commits in the order of the log, compared with those next to them of the same partition of a group.
--   step         offsets since the previous commit; null next to a tombstone or a commit that cannot be decoded, which have no offset,
--                and of another topic ID
--   next_step    likewise to the next commit
--   was_unknown  whether history was incomplete at the previous commit
with all_written as (
  select
    `group`, topic, partition, log_partition, log_offset, commit_time, log_time, tombstone, committed_offset, topic_id,
    true as is_decoded
  from recent_commits
  union all
  select
    `group`, topic, partition, log_partition, log_offset, commit_time, log_time, tombstone, committed_offset, topic_id,
    false as is_decoded
  from undecoded_commits
  where topic is not null
),
compared as (
  select
    `group`,
    topic,
    partition,
    log_partition,
    log_offset,
    commit_time,
    log_time,
    tombstone,
    is_decoded,
    known_since,
    case
      when not coalesce(topic_id <> lag(topic_id) over of_key, false)
        then committed_offset - lag(committed_offset) over of_key
    end as step,
    case
      when not coalesce(topic_id <> lead(topic_id) over of_key, false)
        then -(committed_offset - lead(committed_offset) over of_key)
    end as next_step,
    lag(log_time) over of_key < coalesce(linked_since, known_since) as was_unknown
  from all_written
  left join completeness using (log_partition)
  left join links using (log_partition)
  window of_key as (partition by `group`, topic, partition order by log_partition, log_offset)
)
select * from compared where is_decoded
