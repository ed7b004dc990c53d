"""LETOR 3.0: OHSUMED and the six tasks on the Gov collection.

The documents per query of OHSUMED's twin are counted from the release; those of Gov are round
numbers that fit the published totals. Gov's label shares are assumptions: about 1 % relevant
for topic distillation, one page a query for homepage and named page finding.

NP2004's release calls a query `WT04-182`. The 2004 sets share the track's topics, so the twins of
all three have such names. Named pages of 2003 are called `NP151` by their track.
"""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, Source, TwinShape

_TERMS = "Microsoft Research's terms: research use, not to be passed on"
_CITATION = "T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR, Information Retrieval 13(4), 2010"
_PAGE = (
    "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
)
_FILES = "http://research.microsoft.com/en-us/um/beijing/projects/letor/LETOR3.0"
_VARIANTS = ("QueryLevelNorm", "Feature-min", "Feature-null")
_ONE_PAGE = (0.9988, 0.0012)

OHSUMED = Entry(
    name="OHSUMED",
    title="LETOR 3.0, medical abstracts",
    convention="letor3",
    n_features=45,
    max_label=2,
    queries=106,
    documents=16_140,
    label_counts=(11_303, 2_585, 2_252),
    places=("OHSUMED/{variant}",),
    terms=_TERMS,
    released=2008,
    citation=_CITATION,
    page=_PAGE,
    variants=_VARIANTS,
    normalised=True,
    twin=TwinShape(35, 320, 0.43, "unit", constant=9),
    sources=(Source(f"{_FILES}/OHSUMED.zip", "OHSUMED.zip"),),
)


def _gov(
    task: str,
    title: str,
    sizes: tuple[int, int, int],
    shares: tuple[float, ...],
    note: str = "",
) -> Entry:
    """Return the entry of a task; sizes are its year, queries and documents."""
    year, queries, documents = sizes
    qid = "WT04-{}" if year == 2004 else "NP{}" if task == "NP" else "{}"
    name, folder = f"{task}{year}", f"{year}_{task.lower()}_dataset"
    return Entry(
        name=name,
        title=f"LETOR 3.0, TREC {year} Web track, {title}",
        convention="letor3",
        n_features=64,
        max_label=1,
        queries=queries,
        documents=documents,
        places=(f"Gov/{{variant}}/{folder}", f"{name}/{{variant}}", f"{{variant}}/{folder}"),
        terms=_TERMS,
        released=2008,
        citation=_CITATION,
        page=_PAGE,
        note=note,
        variants=_VARIANTS,
        normalised=True,
        aliases=(folder,),
        twin=TwinShape(700, 1000, 0.03, "unit", shares=shares, qid=qid, ending=b"\r"),
        sources=(Source(f"{_FILES}/Gov.rar", "Gov.rar"),),
    )


def _letor2(documents: str) -> str:
    return f"LETOR 2.0's release had {documents} documents"


_TOPICS, _HOMES, _PAGES = "topic distillation", "homepage finding", "named page finding"

ENTRIES = (
    OHSUMED,
    _gov("TD", _TOPICS, (2003, 50, 49_058), (0.99, 0.01), _letor2("49,171")),
    _gov("TD", _TOPICS, (2004, 75, 74_146), (0.985, 0.015), _letor2("74,170")),
    _gov("HP", _HOMES, (2003, 150, 147_606), _ONE_PAGE),
    _gov("HP", _HOMES, (2004, 75, 74_409), _ONE_PAGE),
    _gov("NP", _PAGES, (2003, 150, 148_657), _ONE_PAGE),
    _gov("NP", _PAGES, (2004, 75, 73_834), _ONE_PAGE),
)
