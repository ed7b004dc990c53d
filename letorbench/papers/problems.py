"""Queries of random problems, on which statements of papers are checked."""

import numpy as np

from letorbench.datasets.queryset import QuerySet

#: the largest label
LABELS = 5


def labelled(*queries: np.ndarray) -> QuerySet:
    """Queries without features: each array (n, m) has n of m documents, by their labels."""
    labels = np.concatenate([each.ravel() for each in queries]).astype(np.int32)
    lengths = np.concatenate([np.full(*each.shape) for each in queries])
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    features = np.empty((len(labels), 0), np.float32)
    return QuerySet(features, labels, offsets, np.arange(len(lengths)))
