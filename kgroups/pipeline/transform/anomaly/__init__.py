"""Anomalies: one file for each type. Each function returns rows of the table ``anomalies``."""
