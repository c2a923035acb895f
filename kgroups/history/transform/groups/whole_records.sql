-- The records that show the whole state of a group: each one of a classic group, and the tombstone of another group.
select `group`, log_partition, log_offset, log_time from group_metadata where log_time < $until
union all
select `group`, log_partition, log_offset, log_time
from epochs
where subject = 'group' and tombstone and log_time < $until
