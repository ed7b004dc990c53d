"""Experiments: plan what is asked for, train, select on validation, test once, store."""
