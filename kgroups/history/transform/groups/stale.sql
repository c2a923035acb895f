with places as (
  select `group`, log_partition, log_offset, log_time from commits where log_time < $until and not tombstone
  union all
  select `group`, log_partition, log_offset, log_time from undecoded_commits
),
last_places as (
  select `group`, log_partition, max(log_offset) as log_offset
  from places
  group by `group`, log_partition
  qualify row_number() over (partition by `group` order by log_partition desc) = 1
),
last_commits as (
  select `group`, log_time as last_commit from places semi join last_places using (log_partition, log_offset)
),
tombstones as (
  select `group`, max(log_time) as last_tombstone from commits where log_time < $until and tombstone group by `group`
),
offsets as (
  select
    `group`,
    count(case when not tombstone and gone_at is null then 1 end) as partitions,
    max(case when not tombstone then gone_at end) as gone_at
  from last_offsets
  group by `group`
),
states as (
  select `group`, max(kind) as kind, max(state) as state, max(since) as state_since, bool_or(by_commit) as by_commit
  from timeline
  where until is null
  group by `group`
),
names as (
  select `group` from offsets
  union
  select `group` from states
  union
  select `group` from last_events
  union
  select `group` from last_swept
),
known as (
  select
    `group`,
    coalesce(kind, swept_kind) as kind,
    coalesce(state, swept_state) as state,
    state_since,
    coalesce(by_commit, false) as by_commit,
    coalesce(partitions, 0) as partitions,
    last_commit,
    last_tombstone,
    last_event,
    gone_at,
    unread_remark,
    read_until,
    coalesce(state = 'Unknown' and unread_since is null, false) as is_blurred,
    -- A sweep after the last record read shows deletions; the timeline of states contains that.
    case
      when unread_since is null then null
      when coalesce(state = 'Unknown', not coalesce(gone_at >= unread_since, false)) then unread_since
    end as unread_since
  from names
  left join last_commits using (`group`)
  left join tombstones using (`group`)
  left join offsets using (`group`)
  left join states using (`group`)
  left join last_events using (`group`)
  left join last_swept using (`group`)
  left join unread_groups using (`group`)
  left join read_groups using (`group`)
),
aged as (
  select
    *,
    coalesce(
      epoch_us($until) - epoch_us(coalesce(last_commit, last_event)) <= $stale_after_us, false
    ) as fresh,
    -- Whether it was read for long enough without a commit: one that was not read is unknown, not missing.
    coalesce(
      epoch_us($until) - epoch_us(read_until) <= $stale_after_us
      and coalesce(epoch_us(read_until) - epoch_us(coalesce(last_commit, last_event)) > $stale_after_us, true),
      false
    ) as silent
  from known
),
judged as (
  select
    *,
    case
      when unread_since is not null
        then case when fresh and last_commit is not null and partitions > 0 then 'LIVE' else 'UNKNOWN' end
      when partitions = 0 and coalesce(state, 'Dead') = 'Dead' then 'DELETED'
      when coalesce(epoch_us($until) - epoch_us(read_until) > $stale_after_us, true) and not fresh then 'UNKNOWN'
      -- Consumers that use assign() commit to a group that is empty, or of which only commits are known.
      when state = 'Empty'
        and not (fresh and last_commit is not null and coalesce(by_commit or last_commit > state_since, true))
        then 'EMPTY'
      -- Share groups store their offsets elsewhere: only their members show that they are in use.
      when fresh or coalesce(kind = 'share' and state = 'Stable', false) then 'LIVE'
      -- Whether it is empty is unknown, and of a share group also whether it is in use.
      when silent and not is_blurred then 'STALE'
      else 'UNKNOWN'
    end as status
  from aged
)
select
  *,
  case
    when unread_since is null and status <> 'UNKNOWN' and (epoch_us(last_commit) >= $oldest_us or epoch_us($until) < $oldest_us)
      then (epoch_us($until) - epoch_us(last_commit)) // 1000
  end as commit_age_ms,
  case when status = 'DELETED' then greatest(state_since, gone_at, last_tombstone) end as deleted_at,
  case
    when unread_since is not null then unread_remark
    when is_blurred then 'unknown: this version cannot decode the last records of the group and its members'
    when status = 'UNKNOWN' and read_until is null then 'unknown: its partition of the log was not read'
    when status = 'UNKNOWN'
      then
        concat(
          'unknown: the log was read until ',
          substr(cast(read_until as string), 1, 10), 'T', substr(cast(read_until as string), 12, 8), 'Z'
        )
  end as remark
from judged
