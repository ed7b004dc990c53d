"""Losses: scores and labels of queries to a value per query and a gradient per document."""
