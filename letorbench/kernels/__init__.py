"""Compiled loops over arrays, on their way to the code that they serve."""

import letorbench.losses  # noqa: F401  (the pair kernels and the losses import each other)
