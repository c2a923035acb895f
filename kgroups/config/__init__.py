"""Combine flags, environment, profile and properties file into one frozen ClientSettings for both transports."""
