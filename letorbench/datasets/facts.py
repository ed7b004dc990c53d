"""The facts of the catalog's data sets, as their releases and papers print them."""

from __future__ import annotations

from letorbench.datasets.entry import Entry

_MICROSOFT = "Microsoft Research's terms: research use, not to be passed on"
_LETOR3 = "T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR, Information Retrieval 13(4), 2010"
_LETOR3_PAGE = (
    "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
)
_LETOR4 = "T. Qin, T.-Y. Liu: Introducing LETOR 4.0 Datasets, arXiv:1306.2597, 2013"
_MSLR_PAGE = "https://www.microsoft.com/en-us/research/project/mslr/"
_ISTELLA = "D. Dato et al.: Fast Ranking with Additive Ensembles, ACM TOIS 35(2), 2016"
_ISTELLA_PAGE = "http://quickrank.isti.cnr.it/istella-dataset/"
_YAHOO = "O. Chapelle, Y. Chang: Yahoo! Learning to Rank Challenge Overview, JMLR W&CP 14, 2011"
_VARIANTS = ("QueryLevelNorm", "Feature-min", "Feature-null")


def _gov(task: str, title: str, year: int, queries: int, documents: int, note: str = "") -> Entry:
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
        terms=_MICROSOFT,
        citation=_LETOR3,
        page=_LETOR3_PAGE,
        variants=_VARIANTS,
        aliases=(folder,),
        note=note,
    )


def _mq(year: int, queries: int, documents: int, counts: tuple[int, ...]) -> Entry:
    return Entry(
        name=f"MQ{year}",
        title=f"LETOR 4.0, TREC Million Query track {year}, supervised setting",
        convention="letor4",
        n_features=46,
        max_label=2,
        queries=queries,
        documents=documents,
        label_counts=counts,
        places=(f"MQ{year}",),
        terms=_MICROSOFT,
        citation=_LETOR4,
        page=_LETOR3_PAGE,
    )


def _mslr(size: str, queries: int, documents: int, counts: tuple[int, ...]) -> Entry:
    return Entry(
        name=f"MSLR-WEB{size}",
        title="Microsoft learning to rank, retired labels of a web search engine",
        convention="mslr",
        n_features=136,
        max_label=4,
        queries=queries,
        documents=documents,
        label_counts=counts,
        places=(f"MSLR-WEB{size}",),
        terms=_MICROSOFT,
        citation=_LETOR4,
        page=_MSLR_PAGE,
        aliases=(f"MSLR{size}", f"MSN{size}", f"WEB{size}"),
    )


def _yahoo(number: int, queries: int, documents: int, shares: tuple[float, ...]) -> Entry:
    return Entry(
        name=f"YAHOO-SET{number}",
        title=f"Yahoo! learning to rank challenge (C14), set {number}",
        convention="standard",
        n_features=700,
        max_label=4,
        queries=queries,
        documents=documents,
        label_shares=shares,
        n_folds=1,
        places=("Yahoo", "ltrc_yahoo", f"YAHOO-SET{number}", "."),
        prefix=f"set{number}.",
        terms="by request to Yahoo Webscope only; research use, not to be passed on",
        citation=_YAHOO,
        page="https://research.yahoo.com/datasets",
        aliases=(f"YAHOO{number}",),
        note="train, valid and test fixed; the columns are the union of both sets' features",
    )


def _istella(
    name: str, queries: int, documents: int, validation: bool, aliases: tuple[str, ...], note: str
) -> Entry:
    inner = "full" if name == "ISTELLA" else "sample"
    return Entry(
        name=name,
        title="Istella LETOR" + ("" if name == "ISTELLA" else ", irrelevant documents sampled"),
        convention="standard",
        n_features=220,
        max_label=4,
        queries=queries,
        documents=documents,
        n_folds=1,
        places=(
            name,
            f"{name}/{inner}",
            *(f"{a}{end}" for a in aliases for end in ("", f"/{inner}")),
        ),
        validation=validation,
        terms="Istella LETOR licence: non-commercial research use",
        citation=_ISTELLA,
        page=_ISTELLA_PAGE,
        aliases=aliases,
        note=note,
    )


_OHSUMED = Entry(
    name="OHSUMED",
    title="LETOR 3.0, medical abstracts",
    convention="letor3",
    n_features=45,
    max_label=2,
    queries=106,
    documents=16_140,
    label_counts=(11_303, 2_585, 2_252),
    places=("OHSUMED/{variant}",),
    terms=_MICROSOFT,
    citation=_LETOR3,
    page=_LETOR3_PAGE,
    variants=_VARIANTS,
)

_DEMO = Entry(
    name="DEMO",
    title="built in: random cubic polynomial, five levels of relevance (generated)",
    convention="standard",
    n_features=10,
    max_label=4,
    queries=200,
    documents=None,
    places=("DEMO",),
    terms="none: generated on first use",
    citation="C. Burges, R. Ragno, Q. Le: Learning to Rank with Nonsmooth Cost Functions, NIPS "
    "2006, section 6.3.1 (the same recipe, smaller)",
    synthetic=True,
)

_QA = Entry(
    name="QA",
    title="questions and answers as bags of 300 + 300 words, one answer the best (generated)",
    convention="standard",
    n_features=600,
    max_label=1,
    queries=None,
    documents=None,
    places=("QA",),
    terms="none: generated by `letorbench datasets make QA --questions N`",
    citation="none; the task of T. Tran, D. Phung, S. Venkatesh: Learning Rank Functionals: An "
    "Empirical Study, 2012, section 4",
    n_folds=1,
    note="made-up data: its numbers say nothing about real questions",
    synthetic=True,
)

FACTS: tuple[Entry, ...] = (
    _OHSUMED,
    _gov("TD", "topic distillation", 2003, 50, 49_058, "LETOR 2.0's release had 49,171 documents"),
    _gov("TD", "topic distillation", 2004, 75, 74_146, "LETOR 2.0's release had 74,170 documents"),
    _gov("HP", "homepage finding", 2003, 150, 147_606),
    _gov("HP", "homepage finding", 2004, 75, 74_409),
    _gov("NP", "named page finding", 2003, 150, 148_657),
    _gov("NP", "named page finding", 2004, 75, 73_834),
    _mq(2007, 1_692, 69_623, (51_632, 14_628, 3_363)),
    _mq(2008, 784, 15_211, (12_279, 2_001, 931)),
    _mslr("10K", 10_000, 1_200_192, (624_263, 386_280, 159_451, 21_317, 8_881)),
    _mslr("30K", 31_531, 3_771_125, (1_940_952, 1_225_770, 504_958, 69_010, 30_435)),
    _yahoo(1, 29_921, 709_877, (0.2192, 0.5022, 0.2230, 0.0388, 0.0167)),
    _yahoo(2, 6_330, 172_870, (0.2609, 0.3580, 0.2855, 0.0767, 0.0189)),
    _istella(
        "ISTELLA",
        33_018,
        10_454_629,
        False,
        ("istella-letor", "istella-full"),
        "released as train and test only; the last fifth of the training queries validates",
    ),
    _istella("ISTELLA-S", 33_018, 3_408_630, True, ("istella-s-letor", "istella-sample"), ""),
    _DEMO,
    _QA,
)
