-- Members that join repeatedly. A static member is identified by its instance ID, others by client ID and host. If several
-- members have the same name, a join counts only if no other one is a member.
with named as (
  select *, coalesce(instance_id, client_id || coalesce('@' || client_host, '')) as member from stays
),
joins as (
  select `group`, member, since as joined_at, instance_id is not null as static
  from named
  qualify
    coalesce(
      since >= max(coalesce(until, timestamptz '9999-12-31 00:00:00Z')) over (
        partition by `group`, member order by since, until nulls last, member_id
        rows between unbounded preceding and 1 preceding
      ),
      true
    )
),
crowded as (
  select
    *,
    count(*) over (
      partition by `group`, member order by epoch_us(joined_at) range between $flap_window_us preceding and current row
    ) as near,
    min(joined_at) over (
      partition by `group`, member order by epoch_us(joined_at) range between $flap_window_us preceding and current row
    ) as since
  from joins
),
bursts as (
  select
    *,
    sum(case when near < $flaps then 1 else 0 end) over (
      partition by `group`, member order by joined_at rows between unbounded preceding and current row
    ) as burst
  from crowded
)
select
  'flapping_member' as anomaly,
  `group`,
  min(since) as since,
  max(joined_at) as until,
  member,
  $flaps as expected,
  max(near) as found,
  max(near) || ' joins within ' || $flap_window_text || max(
    case when static then ', of one group.instance.id: two clients use it, or one restarts repeatedly' else '' end
  ) as note
from bursts
where near >= $flaps and joined_at >= $since
group by `group`, member, burst
