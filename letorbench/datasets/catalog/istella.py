"""Istella LETOR, whole and with its irrelevant documents sampled.

The documents per query and the label shares of the twins are round numbers that fit the
published totals.
"""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, FileHash, Source, TwinShape

_ISTELLA = "http://library.istella.it/dataset"
_RANKEVAL = "http://rankeval.isti.cnr.it/rankeval-datasets"


def _places(name: str, inner: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that may hold the files: by every name, with the archive's or not."""
    return tuple(f"{each}{end}" for each in (name, *aliases) for end in ("", f"/{inner}"))


def _source(archive: str, n_bytes: int, digest: str) -> tuple[Source, Source]:
    file = f"{archive}.tar.gz"
    return (
        Source(f"{_ISTELLA}/{file}", file, n_bytes, FileHash("sha256", digest)),
        Source(f"{_RANKEVAL}/{archive}/dataset/{file}", file),
    )


def _entry(name: str, documents: int, aliases: tuple[str, ...], **facts: object) -> Entry:
    return Entry(
        name=name,
        convention="standard",
        n_features=220,
        max_label=4,
        queries=33_018,
        documents=documents,
        n_folds=1,
        terms="Istella LETOR licence: non-commercial research use",
        released=2016,
        citation="D. Dato et al.: Fast Ranking with Additive Ensembles, ACM TOIS 35(2), 2016",
        page="http://quickrank.isti.cnr.it/istella-dataset/",
        aliases=aliases,
        published_as=(f"{name.title()} LETOR",),
        **facts,
    )


_NAMES, _NAMES_S = ("istella-letor", "istella-full"), ("istella-s-letor", "istella-sample")

ENTRIES = (
    _entry(
        "ISTELLA",
        10_454_629,
        _NAMES,
        title="Istella LETOR",
        places=_places("ISTELLA", "full", _NAMES),
        validation=False,
        note="released as train and test only; the last fifth of the training queries validates",
        twin=TwinShape(
            1, 439, 0.3, "raw", shares=(0.96, 0.01, 0.013, 0.01, 0.007), split=(0.7032, 0, 0.2968)
        ),
        sources=_source(
            "istella-letor",
            1_288_401_248,
            "d45899d9a6a0e48afb250aac7ee3dc50e73e263687f15761d754515cd8284e0b",
        ),
    ),
    _entry(
        "ISTELLA-S",
        3_408_630,
        _NAMES_S,
        title="Istella LETOR, irrelevant documents sampled",
        places=_places("ISTELLA-S", "sample", _NAMES_S),
        twin=TwinShape(
            1,
            182,
            0.3,
            "raw",
            shares=(0.88, 0.03, 0.04, 0.03, 0.02),
            split=(0.5829, 0.2184, 0.1987),
        ),
        sources=_source(
            "istella-s-letor",
            472_129_615,
            "41b21116a3650cc043dbe16f02ee39f4467f9405b37fdbcc9a6a05e230a38981",
        ),
    ),
)
