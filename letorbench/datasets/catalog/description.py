"""What the catalog says of a data set, for people."""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, Source


def describe(known: Entry) -> tuple[tuple[str, str], ...]:
    """Return (what, text) rows; they say so where something is not known to be published."""
    sizes = (
        ("queries", known.queries),
        ("documents", known.documents),
        ("features", known.n_features),
    )
    variant = known.variants[0] if known.variants else ""
    rows = [
        ("name", known.name),
        ("title", known.title),
        *((what, "not published" if size is None else f"{size:,}") for what, size in sizes),
        ("labels", _labels(known)),
        ("folds", str(known.n_folds) if known.n_folds > 1 else "1 (fixed split)"),
        ("convention", known.convention),
        ("values", _scales(known)),
        ("variants", ", ".join(known.variants) + " (the first is the default)" * bool(variant)),
        ("folder", known.places[0].format(variant=variant)),
        ("terms", known.terms),
        ("paper", known.citation),
        ("page", known.page),
        ("note", known.note),
        *(("source", _address(each)) for source in known.sources for each in source.addresses),
    ]
    return tuple((what, text) for what, text in rows if text)


def _scales(known: Entry) -> str:
    if not known.normalised:
        return "on scales of their own"
    return f"normalised{f' in {known.variants[0]}' if known.variants else ''}"


def _labels(known: Entry) -> str:
    shares = known.published_shares()
    if not shares:
        return f"0 to {known.max_label}, distribution not published"
    return ", ".join(f"{label}: {share:.2%}" for label, share in enumerate(shares))


def _address(source: Source) -> str:
    size = f"{source.bytes:,} bytes" if source.bytes is not None else ""
    kind = "" if source.file else "a page for people"
    last = f"answered {source.answered}" if source.answered else ""
    facts = ", ".join(part for part in (kind, size, str(source.hash or ""), last) if part)
    return f"{source.url} ({facts})" if facts else source.url
