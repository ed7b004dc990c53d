"""What stored scores say: aggregates, tables, plots."""
