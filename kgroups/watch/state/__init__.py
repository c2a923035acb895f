"""Groups sampled repeatedly: rates, changes, and rebalances."""
