"""The data sets that letorbench knows, and a data set's name as users write it.

To add a data set, add its table to a .toml file of this folder, or write a new file. The keys are
the fields of `Entry`; the table `common` has those that all data sets of its file share.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from letorbench.errors import UsageError

#: the convention of data sets that no official LETOR tool measures
STANDARD = "standard"
#: the ending of a synthetic twin's name
TWIN = "-twin"
#: a name, and the fraction of the training queries behind it
_SAMPLED = re.compile(r"(.+)@(0?\.\d*[1-9]\d*)")
#: a name, and the number of a new draw of the folds behind it
_RESPLIT = re.compile(r"([^@]+)@split([1-9]\d{0,4})")
#: the published hashes of files inside the releases; files of other line ends have other hashes
_HASHES = Path(__file__).with_name("hashes.csv")


@dataclass(frozen=True)
class FileHash:
    """A published hash of a file: the algorithm's name as `hashlib` has it, and the hex digits."""

    algorithm: str
    digest: str

    @staticmethod
    def of(path: Path, algorithm: str) -> FileHash:
        """Return the hash of a file by an algorithm."""
        if algorithm == "git":  # the name that git gives to a file
            state = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
        else:
            state = hashlib.new(algorithm)
        with path.open("rb") as file:
            return FileHash(algorithm, hashlib.file_digest(file, lambda: state).hexdigest())

    def __str__(self) -> str:
        return f"{self.algorithm} {self.digest}"


@dataclass(frozen=True)
class Source:
    """An address where a data set can be had."""

    url: str
    #: the archive's file name; empty where the address is a page for people
    file: str = ""
    #: the archive's published size
    bytes: int | None = None
    #: the archive's published hash
    hash: FileHash | None = None
    #: the last known answer of the address, if it was an error
    answered: str = ""
    #: the files of a release that is no archive; `url` is then their page and `file` the folder's
    #: name. If they are the folds' test parts, the others are composed of them as LETOR's rotate
    parts: tuple[Source, ...] = ()
    #: the variant that it holds; empty where it holds all
    variant: str = ""

    @property
    def addresses(self) -> tuple[Source, ...]:
        """The addresses of the downloads: those of the parts, or its own."""
        return self.parts or (self,)


@dataclass(frozen=True)
class Unsplit:
    """How a release without folds is read before it is cut into folds, as `datasets split` does."""

    #: the columns of a table, whose others are the features; empty for LETOR text
    label: str = ""
    qid: str = ""
    docid: str = ""
    #: columns that are no features
    left_out: tuple[str, ...] = ()
    #: columns of words: each word becomes a feature that is 1 or 0
    categories: tuple[str, ...] = ()
    #: whether the rows are single people's judgements of what a second table describes
    judgements: bool = False


@dataclass(frozen=True)
class TwinShape:
    """The shape of a synthetic twin beyond the published facts of its original."""

    #: the fewest and the most documents of a query
    least: int
    most: int
    #: the standard deviation of the logarithm of a query's number of documents
    spread: float
    #: "unit" (normalised per query to [0, 1]), "raw" (counts, reals, log probabilities) or "sparse"
    #: (in [0, 1], zeros left out)
    values: str
    #: the number of columns that are 0 in every row
    constant: int = 0
    #: assumed shares of the labels, where none are published
    shares: tuple[float, ...] = ()
    #: the shares of the queries in train, validation and test, for a fixed split
    split: tuple[float, ...] = ()
    #: the id of a query by its number from 1
    qid: str = "{}"
    #: the text before the newline of normalised values
    ending: str = ""


@dataclass(frozen=True)
class Entry:
    """Published facts of a data set, and the places of its files. None means not published."""

    name: str
    title: str
    #: the measuring convention that its published tables use
    convention: str
    #: the number of columns: the largest feature index of its files
    n_features: int
    #: folders under the data folder. `import` puts the files into the first. "{variant}" stands for
    #: one of `variants`.
    places: tuple[str, ...]
    #: the licence, and the paper
    terms: str
    citation: str
    #: over all parts of all folds, each part counted once
    queries: int | None = None
    documents: int | None = None
    #: the largest label, and the smallest, which is -1 if some documents are not judged
    max_label: int | None = None
    min_label: int = 0
    #: the year. The catalog lists data sets in the order of their years.
    released: int = 0
    #: the web page, and remarks for users
    page: str = ""
    note: str = ""
    #: the number of judged documents of each label 0..max_label
    label_counts: tuple[int, ...] | None = None
    #: the same as shares of 1, if only those are published
    label_shares: tuple[float, ...] | None = None
    #: 5 for cross-validation, 1 for a fixed split
    n_folds: int = 5
    #: the versions of its features. The first is the default.
    variants: tuple[str, ...] = ()
    #: the text before train, valid and test in its file names
    prefix: str = ""
    #: false where the release has no validation part
    validation: bool = True
    #: other names of its folders and archives
    aliases: tuple[str, ...] = ()
    #: its names in published tables, if they differ from `name` by more than case and punctuation
    published_as: tuple[str, ...] = ()
    #: whether its features, those of the first variant, are published on comparable scales
    normalised: bool = False
    #: whether values may lie beyond float32; they are read as the largest float32
    doubles: bool = False
    #: the shape of its synthetic twin, if it has one
    twin: TwinShape | None = None
    #: how its release is read, if that has no folds
    unsplit: Unsplit | None = None
    #: the best address first
    sources: tuple[Source, ...] = ()
    #: whether the data are generated
    synthetic: bool = False
    #: for a synthetic twin, the name of the data set whose shape it has
    original: str = ""

    @property
    def labels(self) -> str:
        most = "?" if self.max_label is None else self.max_label
        return f"0-{most}" + f" or {self.min_label}" * (self.min_label < 0)

    def published_shares(self) -> tuple[float, ...] | None:
        """Return the share of each label 0..max_label, from the counts if they are published."""
        if self.label_counts is None:
            return self.label_shares
        total = sum(self.label_counts)
        return tuple(count / total for count in self.label_counts)

    def status_of(self, path: Path, file: str) -> str:
        """Return ok, differs or unknown for a file by the published hashes of its path."""
        known = _published_hashes().get((self.name, file.lower()), {})
        if any(FileHash.of(path, published.algorithm) == published for published in known):
            return "ok"
        # the hash of a git repository's copy with one kind of line ends refutes no other copy
        conclusive = any(published.algorithm != "git" for published in known)
        return "differs" if conclusive or {"CRLF", "LF"} <= set(known.values()) else "unknown"


#: the record that each table inside an entry becomes
_RECORDS = {"sources": Source, "parts": Source, "twin": TwinShape, "unsplit": Unsplit}


def _value(key: str, value: Any) -> Any:
    """Return a value of a .toml file as an entry holds it: records, tuples, hashes."""
    if isinstance(value, list):
        return tuple(_value(key, each) for each in value)
    if isinstance(value, dict):
        return _RECORDS[key](**{name: _value(name, each) for name, each in value.items()})
    return FileHash(*value.split()) if key == "hash" else value


@cache
def _published_hashes() -> dict[tuple[str, str], dict[FileHash, str]]:
    """Return the hashes, with the file's line ends, by the data set and path of each file."""
    hashes: dict[tuple[str, str], dict[FileHash, str]] = {}
    with _HASHES.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            key = row["dataset"], row["file"].lower()
            published = FileHash(row["algorithm"], row["digest"])
            hashes.setdefault(key, {})[published] = row["line_ends"]
    return hashes


def _registered() -> Mapping[str, Entry]:
    entries = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        common = tables.pop("common", {})
        for name, facts_of in tables.items():
            facts = {key: _value(key, each) for key, each in (common | facts_of).items()}
            entries.append(Entry(**{"name": name} | facts))
    entries.sort(key=lambda entry: (entry.synthetic, entry.released))
    return MappingProxyType({entry.name: entry for entry in entries})


#: name -> data set of all files of this folder, the generated ones last
CATALOG = _registered()


@dataclass(frozen=True)
class Name:
    """A data set as a user names it."""

    #: the catalog's name, or the user's own folder
    text: str
    #: the catalog's entry; None for an own folder
    entry: Entry | None
    #: the version of the features, where the data set has several
    variant: str | None
    #: the fraction of the training queries that a run trains on
    train_fraction: float = 1.0
    #: the number of a new draw of the folds; 0 for the official folds
    resplit: int = 0

    @property
    def label(self) -> str:
        """The one spelling, fit for a folder's name: OHSUMED, OHSUMED@split2, MQ2008@0.1, ..."""
        return with_resplit(with_fraction(self.files, self.train_fraction), self.resplit)

    @property
    def whole(self) -> str:
        """The label without the fraction."""
        return with_resplit(self.files, self.resplit)

    @property
    def official(self) -> str:
        """The label of the same data with the official folds."""
        return replace(self, resplit=0).label

    @property
    def files(self) -> str:
        """The label of all that is made of the same files."""
        if self.entry is None:
            return self.text.replace("/", "-")
        if self.variant is None or self.variant == self.entry.variants[0]:
            return self.entry.name
        return f"{self.entry.name}-{self.variant}"

    @property
    def normalised(self) -> bool | None:
        """Whether its features are published on scales that compare; None where not known."""
        if self.entry is None:
            return None
        first = self.entry.variants[0] if self.entry.variants else ""
        return self.entry.normalised and (self.variant or first).endswith(first)

    def __str__(self) -> str:
        return self.label


def parse(text: str | Name) -> Name:
    """Read NAME, NAME/VARIANT, NAME-VARIANT or NAME-twin, in any case, perhaps @splitK and @SHARE.

    A name that the catalog does not have is a folder of the user's.

    Examples
    --------
    >>> parse("ohsumed/feature_min").label
    'OHSUMED-Feature-min'
    >>> parse("mine").entry is None
    True
    """
    if isinstance(text, Name):
        return text
    text = text.strip().strip("/")
    if (sampled := _SAMPLED.fullmatch(text)) is not None:
        return replace(parse(sampled[1]), train_fraction=float(sampled[2]))
    if (drawn := _RESPLIT.fullmatch(text)) is not None:
        return replace(parse(drawn[1]), resplit=int(drawn[2]))
    base, _, variant = text.partition("/")
    named = _names().get(normalized(base), Name(text, None, None))
    if named.entry is None or not variant:
        return named
    choices = named.entry.variants
    chosen = next((choice for choice in choices if same(choice, variant)), None)
    if chosen is None:
        expected = f"one of {', '.join(choices)}" if choices else "none"
        raise UsageError(f"{named.text} has no variant {variant!r}; expected {expected}")
    return replace(named, variant=chosen)


def with_fraction(name: str, fraction: float) -> str:
    """Return a data set's name with the fraction of its training queries: OHSUMED@0.3."""
    return name if fraction == 1.0 else f"{name}@{fraction:g}"


def with_resplit(name: str, number: int) -> str:
    """Return a data set's name with the number of a new draw of its folds: OHSUMED@split3."""
    whole, at, fraction = name.partition("@")
    return f"{whole}@split{number}{at}{fraction}" if number else name


def without_resplits(names: Iterable[str]) -> list[str]:
    """Return names of data sets without the re-splits of those that are among them."""
    every = dict.fromkeys(names)
    return [
        name
        for name in every
        if (official := parse(name).official) == name or official not in every
    ]


def entry(name: str | Name) -> Entry:
    """Return the catalog's entry of that name, or of a twin; UsageError names the choices."""
    known = parse(name).entry
    if known is None:
        raise UsageError(f"unknown data set {str(name)!r}; expected one of {', '.join(CATALOG)}")
    return known


def look_alike(n_features: int, max_label: int) -> Iterator[Entry]:
    """Yield the data sets whose shape data have."""
    for known in CATALOG.values():
        # the shapes that twins have are of nothing else; 21 or 25 features may be anybody's
        alike = known.twin is not None and n_features == known.n_features
        if alike and 0 < max_label <= (known.max_label or 0):
            yield known


def check_convention(n_features: int, max_label: int, convention: str, chosen: bool) -> str | None:
    """Return a line for the user if data of this shape have another official convention."""
    if convention == STANDARD and chosen:
        return None
    for known in look_alike(n_features, max_label):
        if known.convention not in (STANDARD, convention):
            return (
                f"found {n_features} features and labels up to {max_label}, as {known.name} has; "
                f"--convention {known.convention} may be meant"
            )
    return None


def same(one: str, other: str) -> bool:
    """Whether two names differ only by case and by - and _."""
    return normalized(one) == normalized(other)


def normalized(name: str) -> str:
    """Return the form in which names are compared: lower case, - for _."""
    return name.lower().replace("_", "-")


@cache
def _names() -> dict[str, Name]:
    """Return each data set, twin and variant by its normalised names."""
    names: dict[str, Name] = {}
    for known in CATALOG.values():
        twin = replace(
            known, name=known.name + TWIN, places=(known.name + TWIN,), synthetic=True,
            title=f"synthetic, in the shape of {known.name} ({known.title})",
            terms="none: generated by `letorbench datasets make`",
            citation=f"none; the shape is that of {known.name}: {known.citation}",
            note="made-up data: its numbers say nothing about the real data set",
            original=known.name, variants=(), sources=(), page="",
        )  # fmt: skip
        for name in (known.name, *known.aliases):
            names[normalized(name)] = Name(known.name, known, next(iter(known.variants), None))
            if known.twin is not None:
                names[normalized(name + TWIN)] = Name(twin.name, twin, None)
        for variant in known.variants:
            names[normalized(f"{known.name}-{variant}")] = Name(known.name, known, variant)
    return names


def describe(known: Entry) -> tuple[tuple[str, str], ...]:
    """Return the published facts as rows (what, text)."""
    variant = known.variants[0] if known.variants else ""
    labels = ", ".join(
        f"{r}: {share:.2%}" for r, share in enumerate(known.published_shares() or ())
    )
    folds = str(known.n_folds) if known.n_folds > 1 else "1 (fixed split)"
    if known.unsplit is not None:
        folds = f"{known.n_folds}, by query, made here: the release has none"
    values = f"normalised{f' in {variant}' * bool(variant)}"
    if not known.normalised:
        values = f"on scales of their own{', clipped to float32' * known.doubles}"
    rows = [
        ("name", known.name),
        ("title", known.title),
        ("queries", _size(known.queries)),
        ("documents", _size(known.documents)),
        ("features", _size(known.n_features)),
        ("labels", labels or f"{known.labels.replace('-', ' to ', 1)}, distribution not published"),
        ("folds", folds),
        ("convention", known.convention),
        ("values", values),
        ("variants", ", ".join(known.variants) + " (the first is the default)" * bool(variant)),
        ("folder", known.places[0].format(variant=variant)),
        ("terms", known.terms),
        ("paper", known.citation),
        ("page", known.page),
        ("note", known.note),
        *(("source", _address(each)) for source in known.sources for each in source.addresses),
    ]
    return tuple((what, text) for what, text in rows if text)


def _size(number: int | None) -> str:
    return "not published" if number is None else f"{number:,}"


def _address(source: Source) -> str:
    facts = [
        "a page for people" * (not source.file),
        "" if source.bytes is None else f"{source.bytes:,} bytes",
        str(source.hash or ""),
        f"answered {source.answered}" if source.answered else "",
    ]
    return f"{source.url} ({', '.join(filter(None, facts))})" if any(facts) else source.url
