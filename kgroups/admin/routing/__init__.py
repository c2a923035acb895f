"""Which broker to ask, and how: coordinators, leaders, batches, retries, and coverage."""
