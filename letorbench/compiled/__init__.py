"""Compiled kernels: their compilation and cache, threads, and sums in one fixed order."""
