-- The committed offsets of groups at each sample of the log end offsets: the columns of span_heads, and these.
--   committed_offset, committed_at, lag  null if they are unknown
--   remark                               what is wrong with the offset, or why it is unknown; otherwise null
--   is_unread                            whether records of that time are unread
--   is_undecoded                         whether the commit of that time cannot be decoded; then is_unread, too
--   topic_id                             that of the commit; null: unknown
--   is_ahead                             whether the offset is beyond the end of the log also at the next or the previous sample:
--                                        if there is one, because the clocks of collector and broker differ
-- -1 is the offset of a deletion, -2 that of a commit that cannot be decoded.
-- Partitions without a commit at any sample are omitted.
-- The commits and samples of a group's partition are merged by time, and a window carries the last commit to each sample.
with keys as (
  select `group`, topic, partition from commits where log_time < $until
  union
  select `group`, topic, partition from undecoded_commits where topic is not null
  union
  select `group`, topic, partition from baseline where swept_at < $until and topic is not null
),
events as (
  select
    `group`, topic, partition, 1 as is_sample, cast(null as int) as log_partition, cast(null as bigint) as log_offset,
    0 as swept, cast(null as timestamptz) as changed_at, cast(null as bigint) as changed_offset,
    cast(null as string) as changed_id, sampled_at, log_start, log_end, life
  from span_heads
  join keys using (topic, partition)
  union all
  select
    `group`, topic, partition, 0 as is_sample, log_partition, log_offset,
    swept, changed_at, case when is_undecoded = 1 then -2 else coalesce(committed_offset, -1) end as changed_offset, coalesce(topic_id, '') as changed_id,
    null as sampled_at, null as log_start, null as log_end, null as life
  from offset_changes
),
-- The time of a commit never goes back: it is the latest time of the commits before it in the log, whose order counts.
timed as (
  select
    *,
    coalesce(
      sampled_at,
      max(changed_at) over (
        partition by `group`, topic, partition order by is_sample, log_partition, log_offset, swept
        rows between unbounded preceding and current row
      )
    ) as time
  from events
),
carried as (
  select
    *,
    nullif(
      last_value(changed_offset ignore nulls) over (
        partition by `group`, topic, partition order by time, is_sample, log_partition, log_offset, swept
        rows between unbounded preceding and current row
      ),
      -1
    ) as offset_then,
    last_value(changed_at ignore nulls) over (
      partition by `group`, topic, partition order by time, is_sample, log_partition, log_offset, swept
      rows between unbounded preceding and current row
    ) as changed_then,
    nullif(
      last_value(changed_id ignore nulls) over (
        partition by `group`, topic, partition order by time, is_sample, log_partition, log_offset, swept
        rows between unbounded preceding and current row
      ),
      ''
    ) as topic_id
  from timed
),
known as (
  select
    carried.*,
    case
      when sampled_at >= unread_since then unread_remark
      when offset_then = -2 then 'unknown: this version cannot decode the last commit'
      -- Collectors sample between batches; a minute apart, the log is read.
      when epoch_us(sampled_at) > epoch_us(read_until) + 120000000
        then
          concat(
            'unknown: the log was read until ',
            substr(cast(read_until as string), 1, 10), 'T', substr(cast(read_until as string), 12, 8), 'Z'
          )
    end as unread_remark,
    max(offset_then) over (partition by `group`, topic, partition) as highest
  from carried
  left join unread_groups using (`group`)
  left join read_groups using (`group`)
  where is_sample = 1
),
shown as (
  select
    *,
    unread_remark is not null as is_unread,
    coalesce(offset_then = -2, false) as is_undecoded,
    case when unread_remark is null then offset_then end as committed_offset
  from known
  where highest is not null
)
select
  `group`,
  topic,
  partition,
  sampled_at,
  log_start,
  log_end,
  life,
  committed_offset,
  case when committed_offset is not null then changed_then end as committed_at,
  log_end - committed_offset as lag,
  is_unread,
  is_undecoded,
  topic_id,
  committed_offset > log_end
  and coalesce(
    committed_offset > lead(log_end) over of_key,
    lag(committed_offset) over of_key > log_end,
    true
  ) as is_ahead,
  case
    when is_unread then unread_remark
    when log_start > committed_offset
      then concat('data lost: ', log_start - committed_offset, ' offsets deleted before they were read')
    when log_end < committed_offset then 'committed beyond the end of the log'
  end as remark
from shown
window of_key as (partition by `group`, topic, partition order by sampled_at)
