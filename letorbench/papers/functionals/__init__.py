"""Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012."""
