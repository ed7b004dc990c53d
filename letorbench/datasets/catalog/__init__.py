"""The data sets that letorbench knows, and a data set's name as users write it.

To add a data set, add its table to a .toml file of this folder, or write a new file. The keys are
the fields of `Entry`; the table `common` has those that all data sets of its file share.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from letorbench.datasets.catalog.facts import Entry, FileHash, Source, TwinShape, describe
from letorbench.errors import UsageError

__all__ = [
    "CATALOG", "TWIN", "Entry", "FileHash", "Name", "Source", "TwinShape", "describe", "entry",
    "normalized", "parse", "same", "twin_entry",
    "with_share",
]  # fmt: skip

#: the ending of a synthetic twin's name
TWIN = "-twin"
#: a name, and the share of the training queries behind it
_SAMPLED = re.compile(r"([^@]+)@(0?\.\d*[1-9]\d*)")


def _registered() -> Mapping[str, Entry]:
    """Return the entries of all files of this folder, the generated data sets last."""
    entries = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
        common = facts.pop("common", {})
        entries += [Entry.of({"name": name} | common | own) for name, own in facts.items()]
    entries.sort(key=lambda entry: (entry.synthetic, entry.released))
    return MappingProxyType({entry.name: entry for entry in entries})


#: name -> data set
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
    #: the share of the training queries that a run trains on
    share: float = 1.0

    @property
    def label(self) -> str:
        """The one spelling, fit for a folder's name: OHSUMED, OHSUMED-Feature-min@0.1, ..."""
        return with_share(self.whole, self.share)

    @property
    def whole(self) -> str:
        """The label without the share."""
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
        return self.entry.normalised and self.variant in (None, *self.entry.variants[:1])

    def __str__(self) -> str:
        return self.label


def parse(text: str | Name) -> Name:
    """Read NAME, NAME/VARIANT, NAME-VARIANT or NAME-twin, in any case, perhaps with @SHARE.

    A name that the catalog does not have is the user's own folder. UsageError where the data set
    has no such variant.

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
        return replace(parse(sampled[1]), share=float(sampled[2]))
    base, _, variant = text.partition("/")
    known, named = _names().get(normalized(base), (None, ""))
    if known is None:
        return Name(text, None, None)
    if named == TWIN:
        known, named = _twin_of(known), ""
    variant = variant or named
    if not variant:
        return Name(known.name, known, known.variants[0] if known.variants else None)
    for choice in known.variants:
        if same(choice, variant):
            return Name(known.name, known, choice)
    choices = f"one of {', '.join(known.variants)}" if known.variants else "none"
    raise UsageError(f"{known.name} has no variant {variant!r}; expected {choices}")


def with_share(name: str, share: float) -> str:
    """Return a data set's name with the share of the training queries that is trained on.

    Examples
    --------
    >>> with_share("OHSUMED", 0.3), with_share("OHSUMED", 1.0)
    ('OHSUMED@0.3', 'OHSUMED')
    """
    return name if share == 1.0 else f"{name}@{share:g}"


def entry(name: str | Name) -> Entry:
    """Return the catalog's entry of that name, or of a twin; UsageError names the choices."""
    known = parse(name).entry
    if known is None:
        raise UsageError(f"unknown data set {str(name)!r}; expected one of {', '.join(CATALOG)}")
    return known


def twin_entry(name: str | Name) -> Entry:
    """Return the entry of a data set's twin; UsageError where the catalog has no shape for it."""
    known = entry(name)
    if known.original:
        return known
    if known.twin is None:
        raise UsageError(
            f"{known.name} has no synthetic twin: found no `twin` shape in its catalog entry"
        )
    return _twin_of(known)


def same(one: str, other: str) -> bool:
    """Return whether two names differ in nothing but case and - against _."""
    return normalized(one) == normalized(other)


def normalized(name: str) -> str:
    """Return the name in lower case, with - for _: names are compared in this form."""
    return name.lower().replace("_", "-")


def _names() -> dict[str, tuple[Entry, str]]:
    """Return the entry and the variant ("": the default, or TWIN) of each normalised name."""
    names: dict[str, tuple[Entry, str]] = {}
    for known in CATALOG.values():
        for name in (known.name, *known.aliases):
            names[normalized(name)] = known, ""
            if known.twin is not None:
                names[normalized(name + TWIN)] = known, TWIN
        for variant in known.variants:
            names[normalized(f"{known.name}-{variant}")] = known, variant
    return names


def _twin_of(original: Entry) -> Entry:
    """Return the entry of a data set's synthetic twin."""
    name = original.name + TWIN
    return replace(
        original,
        name=name,
        title=f"synthetic, in the shape of {original.name} ({original.title})",
        places=(name,),
        variants=(),
        aliases=(),
        published_as=(),
        sources=(),
        terms="none: generated by `letorbench datasets make`",
        citation=f"none; the shape is that of {original.name}: {original.citation}",
        page="",
        note="made-up data: its numbers say nothing about the real data set",
        synthetic=True,
        original=original.name,
    )
