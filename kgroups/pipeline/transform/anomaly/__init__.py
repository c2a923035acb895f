"""What should not be: one file for each kind of it. Each function gives a part of the table ``anomalies``."""
