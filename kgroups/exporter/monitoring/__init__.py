"""The monitoring kit: alert rules, dashboards, and a unit for systemd."""
