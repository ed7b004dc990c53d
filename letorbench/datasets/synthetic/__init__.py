"""Generated data sets: DEMO, and a synthetic twin of any data set of the catalog."""

from letorbench.datasets.synthetic.generate import make, recipe

__all__ = ["make", "recipe"]
