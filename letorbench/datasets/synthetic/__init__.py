"""Generated data sets: DEMO, QA, and a synthetic twin of any data set of the catalog."""

from letorbench.datasets.synthetic.generate import make, make_twin, recipe

__all__ = ["make", "make_twin", "recipe"]
