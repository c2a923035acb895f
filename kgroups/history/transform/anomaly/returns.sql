-- When members left that show that clients come and go, as in kgroups/model/stays.py: those that came and left again within the
-- window of storms, and were followed by another member. A group that grows or shrinks has none. Nor has one whose members are all
-- restarted: such a member counts only if more members of its name left than were there at once, so that one left twice; or, if
-- no other member had its name, if it came after another one had left, so that it is no part of what is replaced.
with named as (
  select `group`, coalesce(instance_id, client_id || coalesce('@' || client_host, '')) as member, since, until, complete
  from stays
  where since is not null
),
-- At one time, members leave before others come.
moves as (
  select `group`, member, epoch_us(since) as at_us, 1 as came, 0 as ended, epoch_us(since) as since_us from named
  union all
  select `group`, member, epoch_us(until) as at_us, -1 as came, 0 as ended, epoch_us(since) as since_us
  from named
  where until is not null
  union all
  select `group`, member, epoch_us(until) as at_us, 0 as came, 1 as ended, epoch_us(since) as since_us
  from named
  where until is not null and complete and epoch_us(until) - epoch_us(since) <= $storm_window_us
),
counted as (
  select
    *,
    sum(came) over (
      partition by `group`, member order by at_us, came rows between unbounded preceding and current row
    ) as present,
    sum(ended) over (
      partition by `group`, member order by at_us range between $storm_window_us preceding and current row
    ) as gone,
    min(case when ended = 1 then at_us end) over (
      partition by `group` order by at_us range between $storm_window_us preceding and current row
    ) as first_us,
    sum(case when came = 1 then 1 else 0 end) over (partition by `group`, member) as lives,
    sum(case when came = 1 then 1 else 0 end) over (
      partition by `group` order by at_us range between current row and $storm_window_us following
    ) as later
  from moves
),
most as (
  select *, max(present) over (partition by `group`, member) as together from counted
)
select distinct `group`, at_us
from most
where ended = 1 and later > 0 and (gone > together or (lives = 1 and since_us >= first_us))
