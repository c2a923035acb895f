-- The partitions of the log of which every record was read: nothing was compacted, deleted, or skipped before.
select log_partition
from ranges
group by log_partition
having min(from_offset) = 0 and bool_and(dense and coalesce(from_offset <= reach, true))
