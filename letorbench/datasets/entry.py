"""What the catalog knows of one data set, and where its files may lie."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """Published facts of a data set; what is not known to be published is None.

    convention:   name of the measuring convention its published tables use.
    n_features:   columns of the feature matrix (the largest feature index of its files).
    max_label:    the largest label, 0 being the smallest.
    queries, documents: over all parts of all folds, each part counted once.
    label_counts: documents of each label 0..max_label.
    label_shares: the same as published shares of 1, where only those were printed.
    n_folds:      5 for cross-validation, 1 for a fixed split.
    places:       folders under the data folder, the first being where `import` puts it;
                  "{variant}" stands for one of `variants`, the first being the default.
    prefix:       what stands before train/valid/test in its file names.
    validation:   False where the release has no validation part.
    aliases:      other names that its folders and archives go by.
    original:     for a synthetic twin, the name of the data set whose shape it has.
    """

    name: str
    title: str
    convention: str
    n_features: int
    max_label: int
    queries: int | None
    documents: int | None
    places: tuple[str, ...]
    terms: str
    citation: str
    page: str = ""
    label_counts: tuple[int, ...] | None = None
    label_shares: tuple[float, ...] | None = None
    n_folds: int = 5
    variants: tuple[str, ...] = ()
    prefix: str = ""
    validation: bool = True
    aliases: tuple[str, ...] = ()
    note: str = ""
    synthetic: bool = False
    original: str = ""

    def published_shares(self) -> tuple[float, ...] | None:
        """The share of each label 0..max_label, from the counts where there are any."""
        if self.label_counts is None:
            return self.label_shares
        total = sum(self.label_counts)
        return tuple(count / total for count in self.label_counts)
