-- The last samples of each log, as many as Burrow's window has.
select *
from span_heads
qualify row_number() over (partition by topic, partition order by sampled_at desc) <= $samples
