"""Compiled kernels: how they are compiled and kept, threads, and sums in one fixed order."""
