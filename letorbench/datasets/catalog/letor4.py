"""LETOR 4.0: MQ2007 and MQ2008, the supervised setting.

The documents per query of the twins are counted from the releases.
"""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, FileHash, Source, TwinShape

_FILES = "http://research.microsoft.com/en-us/um/beijing/projects/letor/LETOR4.0/Data"
_MIRROR = (
    "http://www.bigdatalab.ac.cn/benchmark/upload/download_source/"
    "7b6dbbe2-842c-11e4-a536-bcaec51b9163_MQ2007.rar"
)
_FOLDER = Source("https://1drv.ms/f/s!Aqi9ONgj3OqPaynoZZSZVfHPJd0")


def _mq(
    year: int,
    sizes: tuple[int, int],
    counts: tuple[int, ...],
    twin: TwinShape,
    mirrors: tuple[Source, ...] = (),
) -> Entry:
    """Return the entry of a year; sizes are its queries and documents."""
    name = f"MQ{year}"
    return Entry(
        name=name,
        title=f"LETOR 4.0, TREC Million Query track {year}, supervised setting",
        convention="letor4",
        n_features=46,
        max_label=2,
        queries=sizes[0],
        documents=sizes[1],
        label_counts=counts,
        places=(name,),
        terms="Microsoft Research's terms: research use, not to be passed on",
        released=2009,
        citation="T. Qin, T.-Y. Liu: Introducing LETOR 4.0 Datasets, arXiv:1306.2597, 2013",
        page="https://www.microsoft.com/en-us/research/project/"
        "letor-learning-rank-information-retrieval/",
        normalised=True,
        twin=twin,
        sources=(*mirrors, Source(f"{_FILES}/{name}.rar", f"{name}.rar"), _FOLDER),
    )


ENTRIES = (
    _mq(
        2007,
        (1_692, 69_623),
        (51_632, 14_628, 3_363),
        TwinShape(6, 147, 0.3, "unit"),
        (Source(_MIRROR, "MQ2007.rar", hash=FileHash("md5", "7be1640ae95c6408dab0ae7207bdc706")),),
    ),
    _mq(
        2008,
        (784, 15_211),
        (12_279, 2_001, 931),
        TwinShape(5, 121, 0.73, "unit", constant=6),
    ),
)
