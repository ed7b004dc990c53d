"""Yahoo!'s learning to rank challenge: two sets with a fixed split, sparse text."""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, Source, TwinShape

_PAGE = "https://research.yahoo.com/datasets"


def _set(
    number: int, sizes: tuple[int, int], shares: tuple[float, ...], twin: TwinShape, **more: tuple
) -> Entry:
    """Return the entry of a set; sizes are its queries and documents."""
    name = f"YAHOO-SET{number}"
    return Entry(
        name=name,
        title=f"Yahoo! learning to rank challenge (C14), set {number}",
        convention="standard",
        n_features=700,
        max_label=4,
        queries=sizes[0],
        documents=sizes[1],
        label_shares=shares,
        n_folds=1,
        places=("Yahoo", "ltrc_yahoo", name, "."),
        prefix=f"set{number}.",
        terms="by request to Yahoo Webscope only; research use, not to be passed on",
        released=2011,
        citation="O. Chapelle, Y. Chang: Yahoo! Learning to Rank Challenge Overview, "
        "JMLR W&CP 14, 2011",
        page=_PAGE,
        note="train, valid and test fixed; the columns are the union of both sets' features",
        aliases=(f"YAHOO{number}",),
        normalised=True,
        twin=twin,
        sources=(Source(_PAGE),),
        **more,
    )


ENTRIES = (
    _set(
        1,
        (29_921, 709_877),
        (0.2192, 0.5022, 0.2230, 0.0388, 0.0167),
        TwinShape(1, 139, 0.5, "sparse", constant=181, split=(0.6666, 0.1000, 0.2334)),
        published_as=("Yahoo! Set 1", "YahooLTR-set1"),
    ),
    _set(
        2,
        (6_330, 172_870),
        (0.2609, 0.3580, 0.2855, 0.0767, 0.0189),
        TwinShape(1, 139, 0.5, "sparse", constant=104, split=(0.2, 0.2, 0.6)),
        published_as=("Yahoo! Set 2",),
    ),
)
