"""What the catalog knows of one data set: one value a data set, in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class FileHash:
    """A published hash of a file: the algorithm's name as `hashlib` has it, and the hex digits."""

    algorithm: str
    digest: str

    @staticmethod
    def of(path: Path, algorithm: str) -> FileHash:
        """Return the hash of a file by an algorithm."""
        state = hashlib.new(algorithm)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                state.update(block)
        return FileHash(algorithm, state.hexdigest())

    def __str__(self) -> str:
        return f"{self.algorithm} {self.digest}"


@dataclass(frozen=True)
class Source:
    """An address where a data set can be had.

    Parameters
    ----------
    url : str
    file : str
        The archive's file name; empty where the address is a page for people.
    bytes : int, optional
        The archive's published size.
    hash : FileHash, optional
        The archive's published hash.
    answered : str
        What the address is known to have answered last, where that was an error.
    parts : tuple of Source
        The test parts of the folds, where it is these that can be had; `url` is then the page
        of them all and `file` the folder's name. Training and validation parts are composed of
        them as LETOR's folds rotate.
    """

    url: str
    file: str = ""
    bytes: int | None = None
    hash: FileHash | None = None
    answered: str = ""
    parts: tuple[Source, ...] = ()

    @property
    def addresses(self) -> tuple[Source, ...]:
        """The addresses that are downloaded from: those of the parts, or its own."""
        return self.parts or (self,)


@dataclass(frozen=True)
class TwinShape:
    """What a synthetic twin takes from its original beyond the published facts.

    Parameters
    ----------
    least, most : int
        The fewest and the most documents of a query.
    spread : float
        The standard deviation of the logarithm of a query's number of documents.
    values : str
        "unit" (normalised per query to [0, 1]), "raw" (counts, reals, log probabilities) or
        "sparse" (in [0, 1], zeros left out).
    constant : int
        The number of columns that are 0 in every row.
    shares : tuple of float
        Assumed shares of the labels, where none are published.
    split : tuple of float
        The shares of the queries in train, validation and test, for a fixed split.
    qid : str
        How a query of a number from 1 is called.
    ending : bytes
        What stands before the newline of normalised values.
    """

    least: int
    most: int
    spread: float
    values: str
    constant: int = 0
    shares: tuple[float, ...] = ()
    split: tuple[float, ...] = ()
    qid: str = "{}"
    ending: bytes = b""


@dataclass(frozen=True)
class Entry:
    """Published facts of a data set, and where its files may lie. None means not published.

    Parameters
    ----------
    name, title : str
    convention : str
        The measuring convention that its published tables use.
    n_features : int
        The number of columns: the largest feature index of its files.
    max_label : int
        The largest label. The smallest is 0.
    queries, documents : int or None
        Over all parts of all folds, each part counted once.
    places : tuple of str
        Folders under the data folder. `import` puts the files into the first. "{variant}"
        stands for one of `variants`.
    terms, citation, page, note : str
        The licence, the paper, the web page, and what else a user should know.
    label_counts : tuple of int, optional
        The number of documents of each label 0..max_label.
    label_shares : tuple of float, optional
        The same as shares of 1, where only those were printed.
    n_folds : int
        5 for cross-validation, 1 for a fixed split.
    variants : tuple of str
        The versions of its features. The first is the default.
    prefix : str
        What stands before train, valid and test in its file names.
    validation : bool
        False where the release has no validation part.
    aliases : tuple of str
        Other names that its folders and archives go by.
    published_as : tuple of str
        Its names in published tables, where they differ from `name` by more than case and
        punctuation.
    normalised : bool
        Whether its features are published on scales that compare; where it has variants,
        whether the first one's are.
    twin : TwinShape, optional
        The shape of its synthetic twin; without it the data set has none.
    sources : tuple of Source
        Where it can be had, the best address first.
    hashes : mapping of str to FileHash
        Published hashes of the files inside, by their path in the data set's folder.
    synthetic : bool
        Whether the data are generated.
    original : str
        For a synthetic twin, the name of the data set whose shape it has.
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
    note: str = ""
    label_counts: tuple[int, ...] | None = None
    label_shares: tuple[float, ...] | None = None
    n_folds: int = 5
    variants: tuple[str, ...] = ()
    prefix: str = ""
    validation: bool = True
    aliases: tuple[str, ...] = ()
    published_as: tuple[str, ...] = ()
    normalised: bool = False
    twin: TwinShape | None = None
    sources: tuple[Source, ...] = ()
    hashes: Mapping[str, FileHash] = field(default_factory=lambda: MappingProxyType({}))
    synthetic: bool = False
    original: str = ""

    def published_shares(self) -> tuple[float, ...] | None:
        """Return the share of each label 0..max_label, from the counts where there are any."""
        if self.label_counts is None:
            return self.label_shares
        total = sum(self.label_counts)
        return tuple(count / total for count in self.label_counts)
