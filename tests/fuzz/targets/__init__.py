"""One fuzz target per file: ``one(data)`` raises on a finding, ``seeds()`` yields inputs to start from."""
