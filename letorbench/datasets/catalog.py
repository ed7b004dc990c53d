"""The data sets letorbench knows by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from letorbench.datasets.downloads import sources
from letorbench.datasets.entry import Entry
from letorbench.datasets.facts import FACTS
from letorbench.errors import UsageError

CATALOG: Mapping[str, Entry] = MappingProxyType({known.name: known for known in FACTS})

TWIN = "-twin"


@dataclass(frozen=True)
class Name:
    """A data set as a user names it: its entry and variant, or neither for an own folder."""

    text: str
    entry: Entry | None
    variant: str | None

    @property
    def label(self) -> str:
        """The one spelling, fit for a folder's name: OHSUMED, OHSUMED-Feature-min, ..."""
        if self.entry is None:
            return self.text.replace("/", "-")
        if self.variant is None or self.variant == self.entry.variants[0]:
            return self.entry.name
        return f"{self.entry.name}-{self.variant}"


def same(one: str, other: str) -> bool:
    """Whether two names differ in nothing but case and - against _."""
    return fold(one) == fold(other)


def fold(name: str) -> str:
    """The name in lower case, with - for _: what names are compared by."""
    return name.lower().replace("_", "-")


def parse(text: str) -> Name:
    """Read NAME, NAME/VARIANT, NAME-VARIANT or NAME-twin, in any case.

    UsageError for a variant the data set does not have. A name that the catalog does not
    know is the user's own folder: entry and variant None.
    """
    base, _, variant = text.strip().strip("/").partition("/")
    known = _known(base)
    if known is None and not variant:
        known, variant = _with_suffix(base)
    if known is None:
        return Name(text.strip().strip("/"), None, None)
    if not variant:
        return Name(known.name, known, known.variants[0] if known.variants else None)
    for choice in known.variants:
        if same(choice, variant):
            return Name(known.name, known, choice)
    raise UsageError(
        f"{known.name} has no variant {variant!r}; expected "
        + (f"one of {', '.join(known.variants)}" if known.variants else "none")
    )


def entry(name: str) -> Entry:
    """The catalog's entry of that name (or of a twin of it); UsageError names the choices."""
    known = parse(name).entry
    if known is None:
        raise UsageError(f"unknown data set {name!r}; expected one of {', '.join(CATALOG)}")
    return known


def describe(known: Entry) -> tuple[tuple[str, str], ...]:
    """(what, text) rows for people; what is not known to be published says so."""
    rows = [("name", known.name), ("title", known.title)]
    rows += [(what, _count(value)) for what, value in _sizes(known)]
    shares = known.published_shares()
    spread = ", ".join(f"{label}: {share:.2%}" for label, share in enumerate(shares or ()))
    rows.append(("labels", spread or f"0 to {known.max_label}, distribution not published"))
    rows.append(("folds", str(known.n_folds) if known.n_folds > 1 else "1 (fixed split)"))
    rows.append(("convention", known.convention))
    if known.variants:
        rows.append(("variants", ", ".join(known.variants) + " (the first is the default)"))
    variant = known.variants[0] if known.variants else ""
    rows.append(("folder", known.places[0].format(variant=variant)))
    rows += [("terms", known.terms), ("paper", known.citation)]
    rows += [(what, text) for what, text in (("page", known.page), ("note", known.note)) if text]
    rows += [("source", f"{source.url} {_facts_of(source)}".strip()) for source in _sources(known)]
    return tuple(rows)


def _sources(known: Entry) -> tuple:
    return () if known.synthetic else sources(known.name)


def _facts_of(source: object) -> str:
    size = "" if source.bytes is None else f"{source.bytes:,} bytes"
    digest = "" if source.digest is None else f"{source.algorithm} {source.digest}"
    return f"({', '.join(part for part in (size, digest) if part)})" if size or digest else ""


def _sizes(known: Entry) -> tuple[tuple[str, int | None], ...]:
    return (
        ("queries", known.queries),
        ("documents", known.documents),
        ("features", known.n_features),
    )


def _count(value: int | None) -> str:
    return "not published" if value is None else f"{value:,}"


def _known(base: str) -> Entry | None:
    if base.lower().endswith(TWIN):
        original = _known(base[: -len(TWIN)])
        return None if original is None or original.synthetic else _twin(original)
    for known in FACTS:
        if any(same(base, name) for name in (known.name, *known.aliases)):
            return known
    return None


def _with_suffix(base: str) -> tuple[Entry | None, str]:
    for known in FACTS:
        for variant in known.variants:
            if same(base, f"{known.name}-{variant}"):
                return known, variant
    return None, ""


def _twin(original: Entry) -> Entry:
    name = original.name + TWIN
    return replace(
        original,
        name=name,
        title=f"synthetic, in the shape of {original.name} ({original.title})",
        places=(name,),
        variants=(),
        aliases=(),
        terms="none: generated by `letorbench datasets make`",
        citation=f"none; the shape is that of {original.name}: {original.citation}",
        page="",
        note="made-up data: its numbers say nothing about the real data set",
        synthetic=True,
        original=original.name,
    )
