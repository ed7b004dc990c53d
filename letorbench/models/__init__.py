"""Models: the functions from a document's features to its score that rankers learn.

A class with a ``kind`` in this folder is registered by being there: a new model is a new file. The
file also has the model's parametric family, if it has one: its interface to solvers. Every name is
imported when it is first used.
"""

from letorbench import registry

#: the names of this package besides the models and their families
OTHERS = {
    name: f"letorbench.models.base:{name}" for name in ("Model", "ParametricFamily", "load", "save")
}

__getattr__, __dir__ = registry.attach(
    __name__,
    {**registry.by_class("models", "kind"), **registry.by_class("models", "name"), **OTHERS},
)
