"""Gather the facts about single partitions of groups that :mod:`kgroups.model.verdicts` judges."""
