"""Models: what a ranker learns, a function from a document's features to its score.

To add a model, write its file: a class with a ``kind`` in this folder is registered by being
there. The module also holds its parametric family, where it has one: what a solver needs to fit
it to a loss. Every name is imported when it is first used.
"""

from letorbench import registry

#: what this package offers besides the classes of models and of their families
OTHERS = {
    **{name: f"letorbench.models.base:{name}" for name in ("Model", "load", "save")},
    "ParametricFamily": "letorbench.models.parametric:ParametricFamily",
}

__getattr__, __dir__ = registry.attach(
    __name__,
    {**registry.by_class("models", "kind"), **registry.by_class("models", "name"), **OTHERS},
)
