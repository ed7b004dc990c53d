"""Compiled loops over arrays, on their way to the code that they serve."""
