-- Groups of the newer types (KIP-848, KIP-932, KIP-1071): the records of members and epochs of a group, merged in log order.
-- Each record has one member, or the epoch of the group or of its target assignment.
--   subject         subject of the record: present (a member is in the group), group, target, member
--   event           of a member: joined, left, or resubscribed; otherwise null
--   instance_id     also of a member that left
--   group_epoch     epoch of the group, -1 after its tombstone; null: not known yet
--   previous_epoch  epoch of the group before this record
--   bumped          whether this record starts a new epoch
--   round           number of epochs and deletions of the group so far; 0 before the first
--   members         number of members
--   state           state of the group after each operation of the coordinator; null if a record with the same time follows
--                   (an operation is several records with the same time), or the state is unknown
with versions as (
  select
    `group`,
    kind,
    log_partition,
    log_offset,
    log_time,
    member_id,
    not tombstone as is_member,
    coalesce(not lag(tombstone) over member, false) as was_member,
    instance_id,
    lag(instance_id) over member as previous_instance,
    array_sort(topics) is distinct from lag(array_sort(topics)) over member
    or topic_regex is distinct from lag(topic_regex) over member as resubscribed
  from members
  where kind <> 'classic' and log_time < $until
  window member as (partition by `group`, kind, member_id order by log_partition, log_offset)
),
merged as (
  select
    `group`,
    kind,
    log_partition,
    log_offset,
    log_time,
    member_id,
    'present' as subject,
    cast(null as int) as epoch,
    cast(null as string) as member_state,
    cast(null as int) as new_epoch,
    case when is_member and not was_member then 1 when was_member and not is_member then -1 else 0 end as member_change,
    case
      when is_member and not was_member then 'joined'
      when was_member and not is_member then 'left'
      when is_member and resubscribed then 'resubscribed'
    end as event,
    coalesce(case when is_member then instance_id end, case when was_member then previous_instance end) as instance_id
  from versions
  union all
  select
    `group`,
    kind,
    log_partition,
    log_offset,
    log_time,
    member_id,
    subject,
    epoch,
    state as member_state,
    case when subject = 'group' then case when tombstone then -1 else epoch end end as new_epoch,
    0 as member_change,
    null as event,
    null as instance_id
  from epochs
  where log_time < $until
),
known as (
  select
    *,
    last_value(new_epoch ignore nulls) over (
      partition by `group`, kind order by log_partition, log_offset rows between unbounded preceding and current row
    ) as group_epoch,
    last_value(new_epoch ignore nulls) over (
      partition by `group`, kind order by log_partition, log_offset rows between unbounded preceding and 1 preceding
    ) as previous_epoch
  from merged
),
bumps as (
  select
    *,
    coalesce(new_epoch <> -1 and (previous_epoch is null or new_epoch <> previous_epoch), false) as bumped,
    coalesce(subject = 'member' and epoch = group_epoch and member_state = 'stable', false) as has_epoch
  from known
),
counted as (
  select
    *,
    sum(case when bumped or new_epoch = -1 then 1 else 0 end) over (
      partition by `group`, kind order by log_partition, log_offset rows between unbounded preceding and current row
    ) as round,
    sum(member_change) over (
      partition by `group`, kind order by log_partition, log_offset rows between unbounded preceding and current row
    ) as members
  from bumps
),
-- Count the members that have reached an epoch for each epoch: no member has it before the group.
changes as (
  select
    *,
    case when has_epoch then 1 else 0 end
    - case
      when lag(has_epoch) over (
        partition by `group`, kind, round, subject, member_id order by log_partition, log_offset
      ) then 1
      else 0
    end as converged_change
  from counted
),
convergence as (
  select
    *,
    sum(converged_change) over (
      partition by `group`, kind, round order by log_partition, log_offset
      rows between unbounded preceding and current row
    ) as converged,
    coalesce(
      lead(log_time) over (partition by `group`, kind order by log_partition, log_offset) <> log_time, true
    ) as is_last
  from changes
)
select
  *,
  case
    when not is_last or group_epoch is null then null
    when group_epoch = -1 then 'Dead'
    when members <= 0 then 'Empty'
    when members = converged then 'Stable'
    else 'Reconciling'
  end as state
from convergence
