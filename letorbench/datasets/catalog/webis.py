"""Webis' features of the ClueWeb09's judged documents: free, and had without a form.

The repository has the test parts of five folds as plain files. Their hashes are not published.
"""

from __future__ import annotations

from letorbench.datasets.catalog.facts import Entry, Source

_NAME = "webis-de/sigir20-sampling-bias-due-to-near-duplicates-in-learning-to-rank"
_PAGE = f"https://github.com/{_NAME}"
_FEATURES = "data/features/ClueWeb09"
#: commits that have the files: the address of a commit's file never changes its content
_COMMIT = "55ed9db8bb930c36d0c4c61c192f4ce242c2ff6a"
_COMMIT_3 = "100f0c085053e4300452932f7ab37154440dc6c0"


def _part(fold: int) -> Source:
    commit = _COMMIT_3 if fold == 3 else _COMMIT
    file = f"{_FEATURES}/Fold{fold}/test.txt"
    return Source(f"https://raw.githubusercontent.com/{_NAME}/{commit}/{file}", f"part{fold}.txt")


ENTRIES = (
    Entry(
        name="CLUEWEB09",
        title="Webis' features of ClueWeb09, TREC Web tracks 2009 to 2012",
        convention="standard",
        n_features=42,
        max_label=4,
        queries=61,
        documents=26_646,
        places=("CLUEWEB09",),
        terms="CC BY-SA 4.0: free to use, and to pass on under the same terms",
        released=2020,
        citation="M. Fröbe et al.: Sampling Bias Due to Near-Duplicates in Learning to Rank, "
        "SIGIR 2020",
        page=_PAGE,
        note="14 MB; the folds are composed of the five published test parts, as LETOR's rotate; "
        "hashes are not published",
        normalised=True,
        aliases=("WEBIS-CLUEWEB09",),
        sources=(
            Source(
                f"{_PAGE}/tree/{_COMMIT}/{_FEATURES}",
                "ClueWeb09",
                parts=tuple(map(_part, range(1, 6))),
            ),
        ),
    ),
)
