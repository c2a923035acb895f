-- Since when the previous commit of each key is known in the last run of ranges, also if what is before known_since was expired;
-- otherwise null.
select log_partition, max(linked_since) as linked_since
from ranges
group by log_partition, run
qualify row_number() over (partition by log_partition order by run desc) = 1
