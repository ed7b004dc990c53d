"""Two small data sets in the five-fold layout, written as LETOR text."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np


def write_toy(data_dir: Path, name: str = "TOY", seed: int = 1) -> Path:
    """Five parts of 8 queries x 7 documents, 4 features, rotated into five folds."""
    rng = np.random.default_rng(seed)
    parts = []
    for part in range(5):
        lines = []
        for query in range(8):
            for _ in range(7):
                x = rng.normal(size=4)
                label = int(np.clip(round(x[0] - x[1] + 0.5 * rng.normal()), 0, 2))
                cells = " ".join(f"{i + 1}:{value:.6f}" for i, value in enumerate(x))
                lines.append(f"{label} qid:{100 * part + query + 1} {cells}\n")
        parts.append("".join(lines))
    return write_folds(data_dir / name, parts)


def write_folds(folder: Path, parts: list[str]) -> Path:
    """Write parts, rotated, as so many folds."""
    for k in range(len(parts)):
        fold, turned = folder / f"Fold{k + 1}", parts[k:] + parts[:k]
        fold.mkdir(parents=True)
        (fold / "train.txt").write_text("".join(turned[:-2]))
        (fold / "vali.txt").write_text(turned[-2])
        (fold / "test.txt").write_text(turned[-1])
    return folder


#: queries of each part
SIZES = (3, 6, 4, 7, 2)


def write_uneven(data_dir: Path, name: str = "UNEVEN", seed: int = 3) -> Path:
    """Five parts of 2 to 7 queries with 1 to 14 documents, in five folds: none like another.

    The qids fall. Some queries have no relevant document, some features are equal.
    """
    rng = np.random.default_rng(seed)
    parts = ["".join(_part(rng, part, size)) for part, size in enumerate(SIZES)]
    return write_folds(data_dir / name, parts)


def _part(rng: np.random.Generator, part: int, size: int) -> Iterator[str]:
    for query in range(size):
        n_docs = int(rng.integers(1, 15))
        for _ in range(n_docs):
            x = np.round(rng.normal(size=4), 1)
            label = 0 if query == 1 else int(np.clip(round(x[0] - x[1] + rng.normal()), 0, 2))
            cells = " ".join(f"{i + 1}:{value}" for i, value in enumerate(x))
            yield f"{label} qid:{100 * part + 50 - query} {cells}\n"


def read_lists(test_file: Path, scores_file: Path) -> dict[int, list[int]]:
    """Return each query's labels by falling score, ties in file order, by plain Python."""
    rows = [line.split() for line in test_file.read_text().splitlines()]
    scores = [float(line) for line in scores_file.read_text().split()]
    assert len(rows) == len(scores)
    found: dict[int, list[tuple[float, int]]] = {}
    for row, score in zip(rows, scores):
        found.setdefault(int(row[1].removeprefix("qid:")), []).append((-score, int(row[0])))
    return {
        qid: [label for _, label in sorted(docs, key=lambda doc: doc[0])]
        for qid, docs in found.items()
    }
