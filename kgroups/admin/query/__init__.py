"""What groups there are, what they do, and where they stand."""
