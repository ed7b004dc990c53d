"""letorbench: a benchmarking toolkit for learning to rank."""

__version__ = "0.1.0"
