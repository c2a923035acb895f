-- Members that join repeatedly. A static member is identified by its instance ID, others by client ID and host. If several
-- members have the same name, a join counts only if no other one is a member. As in kgroups/model/stays.py, two clients use one
-- instance ID if they take turns, each repeatedly: a client that replaces another one for good does not.
with named as (
  select
    *,
    coalesce(instance_id, client_id || coalesce('@' || client_host, '')) as member,
    coalesce(client_id || coalesce('@' || client_host, ''), client_host, '') as client
  from stays
),
joins as (
  select
    `group`,
    member,
    client,
    since as joined_at,
    instance_id is not null as static,
    case
      when client <> lag(client) over (partition by `group`, member order by since, until nulls last, member_id) then 1 else 0
    end as turn
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
    sum(turn) over (
      partition by `group`, member order by epoch_us(joined_at) range between $flap_window_us preceding and current row
    ) as turns,
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
),
found as (
  select
    `group`,
    member,
    min(since) as since,
    max(joined_at) as until,
    max(near) as near,
    max(turns) as turns,
    bool_or(static) as static,
    count(distinct client) as clients,
    min(client) as first_client,
    max(client) as last_client
  from bursts
  where near >= $flaps and joined_at >= $since
  group by `group`, member, burst
),
judged as (
  select *, static and clients > 1 and turns >= $flaps and turns >= clients as is_shared from found
)
select
  case when is_shared then 'shared_instance_id' else 'flapping_member' end as anomaly,
  `group`,
  since,
  until,
  member,
  $flaps as expected,
  case when is_shared then turns else near end as found,
  case
    when is_shared
      then clients || ' clients use group.instance.id ' || member || ' in turn (' || first_client
        || case when clients > 2 then ', …, ' else ', ' end || last_client || '), ' || turns || ' turns within '
        || $flap_window_text
    else near || ' joins within ' || $flap_window_text || case
      when static then ', of one group.instance.id: two clients use it, or one restarts repeatedly' else ''
    end
  end as note
from judged
