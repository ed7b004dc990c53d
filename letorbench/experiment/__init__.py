"""An experiment: plan, run, select on validation, store."""
