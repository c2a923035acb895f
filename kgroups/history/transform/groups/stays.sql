-- All memberships up to the end of the span: the columns of memberships.
with marks as (
  select log_partition, log_offset, `group`, cast(null as boolean) as is_whole from members where kind <> 'classic' and log_time < $until
  union all
  select log_partition, log_offset, `group`, false as is_whole from undecoded_groups
  union all
  select log_partition, log_offset, `group`, true as is_whole from epochs where subject = 'group' and tombstone and log_time < $until
),
-- Whether the members of the group are known at a record.
clear as (
  select
    log_partition,
    log_offset,
    coalesce(last_value(is_whole ignore nulls) over (
      partition by `group` order by log_partition, log_offset rows between unbounded preceding and current row
    ), true) as is_clear
  from marks
),
lives as (
  select
    *,
    coalesce(
      sum(case when tombstone then 1 else 0 end) over (
        partition by `group`, kind, member_id order by log_partition, log_offset
        rows between unbounded preceding and 1 preceding
      ),
      0
    ) as stay
  from members
  join clear using (log_partition, log_offset)
  where kind <> 'classic' and log_time < $until
),
numbered as (
  select
    *,
    row_number() over (
      partition by `group`, kind, member_id, stay, tombstone order by log_partition, log_offset
    ) as from_first,
    row_number() over (
      partition by `group`, kind, member_id, stay, tombstone order by log_partition desc, log_offset desc
    ) as from_last
  from lives
),
found as (
  select `group`, kind, member_id, instance_id, client_id, client_host, log_partition, since, until, begins, ends
  from classic_stays
  union all
  select
    `group`,
    kind,
    member_id,
    max(case when not tombstone and from_last = 1 then instance_id end) as instance_id,
    max(case when not tombstone and from_last = 1 then client_id end) as client_id,
    max(case when not tombstone and from_last = 1 then client_host end) as client_host,
    max(log_partition) as log_partition,
    max(case when not tombstone and from_first = 1 then log_time end) as since,
    max(case when tombstone then log_time end) as until,
    bool_or(not tombstone and from_first = 1 and is_clear) as begins,
    true as ends
  from numbered
  group by `group`, kind, member_id, stay
  -- A tombstone without a previous record: nothing is known about the member.
  having bool_or(not tombstone)
)
select
  `group`,
  kind,
  member_id,
  instance_id,
  client_id,
  client_host,
  since,
  coalesce(until, gone_at, missed_at) as until,
  coalesce(begins and ends and since >= known_since, false) as complete,
  case when until is null and gone_at is null and missed_at is null then least(unread_since, blurred_since) end as unread_since
from found
left join gone_groups using (`group`)
left join missed_groups using (`group`)
left join blurred_groups using (`group`)
left join completeness using (log_partition)
