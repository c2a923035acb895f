"""Flags and environment -> one frozen ClientSettings that feeds both transports."""
