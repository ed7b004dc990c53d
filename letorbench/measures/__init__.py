"""Measures: values that print and parse as text, computed from scores in file order."""
