-- What the last complete sweep found, and later incomplete ones: the columns of baseline.
select baseline.*
from baseline
cross join last_sweep
where swept_at < $until and (last_sweep is null or swept_at >= last_sweep)
