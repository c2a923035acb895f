"""Check groups against rules: limits, samples, and findings. No I/O."""
