"""MSLR-WEB10K and MSLR-WEB30K, Microsoft's retired labels of a web search engine.

The documents per query of the twins are counted from a sample of the releases.
"""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, FileHash, Source, TwinShape

_FILES = "http://research.microsoft.com/en-us/um/beijing/projects/mslr/data"
#: the share's page, which a browser must open, and the programs' address of the same file,
#: which answers errors since 2025: github.com/tensorflow/datasets/issues/11136
_SHARE_PAGES = "https://1drv.ms/u"
_SHARES = "https://api.onedrive.com/v1.0/shares"
_RANKEVAL = "http://rankeval.isti.cnr.it/rankeval-datasets"


def _mslr(
    size: str,
    sizes: tuple[int, int],
    counts: tuple[int, ...],
    most: int,
    archive: tuple[str, int, str],
) -> Entry:
    """Return the entry of a size.

    sizes are its queries and documents, most the documents of its longest query, archive the
    share's name, bytes and sha256.
    """
    name = f"MSLR-WEB{size}"
    share, n_bytes, digest = archive
    small = f"msn{size.lower()}"
    return Entry(
        name=name,
        title="Microsoft learning to rank, retired labels of a web search engine",
        convention="mslr",
        n_features=136,
        max_label=4,
        queries=sizes[0],
        documents=sizes[1],
        label_counts=counts,
        places=(name,),
        terms="Microsoft Research's terms: research use, not to be passed on",
        released=2010,
        citation="T. Qin, T.-Y. Liu: Introducing LETOR 4.0 Datasets, arXiv:1306.2597, 2013",
        page="https://www.microsoft.com/en-us/research/project/mslr/",
        aliases=(f"MSLR{size}", f"MSN{size}", f"WEB{size}"),
        twin=TwinShape(1, most, 0.55, "raw"),
        sources=(
            Source(f"{_RANKEVAL}/{small}/dataset/{small}.tar.gz", f"{small}.tar.gz"),
            Source(f"{_FILES}/{name}.zip", f"{name}.zip"),
            Source(
                f"{_SHARES}/{share}/root/content",
                f"{name}.zip",
                n_bytes,
                FileHash("sha256", digest),
                answered="HTTP 400 in September 2025",
            ),
            Source(f"{_SHARE_PAGES}/{share}"),
        ),
    )


ENTRIES = (
    _mslr(
        "10K",
        (10_000, 1_200_192),
        (624_263, 386_280, 159_451, 21_317, 8_881),
        908,
        (
            "s!AtsMfWUz5l8nbOIoJ6Ks0bEMp78",
            1_234_144_912,
            "2902142ea33f18c59414f654212de5063033b707d5c3939556124b1120d3a0ba",
        ),
    ),
    _mslr(
        "30K",
        (31_531, 3_771_125),
        (1_940_952, 1_225_770, 504_958, 69_010, 30_435),
        1251,
        (
            "s!AtsMfWUz5l8nbXGPBlwD1rnFdBY",
            3_849_406_307,
            "08cb7977e1d5cbdeb57a9a2537a0923dbca6d46a76db9a6afc69e043c85341ae",
        ),
    ),
)
