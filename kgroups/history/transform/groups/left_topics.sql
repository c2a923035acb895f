-- The topics with offsets of a group that none of its members subscribes to (KIP-211). Unknown, and omitted: while members
-- rebalance, if a subscription is a pattern or cannot be decoded, and of streams groups, whose topics are in their topology.
with standing as (
  select `group`, kind, state from timeline where until is null and state = 'Stable'
),
present as (
  select members.`group`, members.kind, topics, cast(null as string) as topic_regex
  from members
  join classic_snapshots using (log_partition, log_offset)
  -- Brokers keep the offsets of groups without subscriptions, such as those of Kafka Connect.
  where members.kind = 'classic' and next_time is null and protocol_type = 'consumer'
  union all
  select `group`, kind, topics, topic_regex
  from (
    select *
    from members
    where kind = 'consumer' and log_time < $until
    qualify row_number() over (partition by `group`, kind, member_id order by log_partition desc, log_offset desc) = 1
  ) as last_members
  where not tombstone
)
select last_offsets.`group`, topic
from last_offsets
join present using (`group`)
semi join standing using (`group`, kind)
group by last_offsets.`group`, topic
having bool_and(coalesce(topic_regex is null and not array_contains(topics, topic), false))
