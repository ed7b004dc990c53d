"""Experiments: plan the jobs, train, select on validation, test once, store."""
