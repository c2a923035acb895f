"""What is released: built, installed, and checked (``make dist``, ``make release-check``)."""
