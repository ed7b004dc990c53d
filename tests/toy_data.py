"""A small data set in the five-fold layout, written as LETOR text."""

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
