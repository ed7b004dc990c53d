"""Optimisers: from a loss and a scorer to the parameters that minimise it."""
