"""Draw the pictures of docs/speed.md from docs/speed.csv: `python docs/speed.py`.

`python -m benchmarks --store` and `python -m benchmarks.twins --store` fill that file. A picture
holds a digest of that file and of this one.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).parent
OURS, THEIRS = "#1f77b4", "#999999"
#: megabytes of the file that is read
FILE = 300


def seconds() -> dict[str, dict[str, float]]:
    """Return what was timed -> who -> seconds, in the file's order."""
    found: dict[str, dict[str, float]] = {}
    with (HERE / "speed.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["what"], {})[row["who"]] = float(row["seconds"])
    return found


def made_by() -> str:
    """Return a digest of what the pictures are made by."""
    files = (HERE / "speed.csv", HERE / "speed.py")
    return hashlib.blake2b(b"".join(path.read_bytes() for path in files), digest_size=8).hexdigest()


def beside(start: str) -> dict[str, float]:
    """Return who -> seconds of the comparisons that begin so; ours is the slowest of them."""
    found: dict[str, float] = {}
    for what, took in seconds().items():
        if what.startswith(start):
            found |= took | {"letorbench": max(took["letorbench"], found.get("letorbench", 0.0))}
    return found


def bars(name: str, values: Mapping[str, float], unit: str, form: str, peer: str = "") -> None:
    """Draw a bar for each name, the longest first, with its value; ours are blue.

    Ours are all but `peer` where that is given, else `letorbench` alone.
    """
    order = sorted(values, key=values.__getitem__)
    ours = [who != peer if peer else who == "letorbench" for who in order]
    figure, axes = plt.subplots(figsize=(6.4, 0.7 + 0.3 * len(order)), layout="constrained")
    drawn = axes.barh(
        order, [values[who] for who in order], color=[OURS if own else THEIRS for own in ours]
    )
    axes.bar_label(drawn, fmt=form, padding=3)
    axes.set_xlabel(unit)
    axes.set_xlim(right=1.15 * max(values.values()))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "speed" / f"{name}.svg", metadata={"Date": None, "Identifier": made_by()})
    plt.close(figure)


def main() -> None:
    plt.rcParams |= {"svg.hashsalt": "letorbench", "font.size": 11}
    read = {who: FILE / took for who, took in beside("reading").items()}
    bars("reading", read, "MB/s", "{:,.0f}")
    trained = seconds()["MSLR-WEB10K-twin, fold 1"]
    peer = next(who for who in trained if who.startswith("lightgbm,"))
    bars("training", trained, "seconds", "{:.0f}", peer)
    measured = {who: 1e3 * took for who, took in beside("20 measures").items()}
    bars("measuring", measured, "milliseconds", "{:.0f}")


if __name__ == "__main__":
    main()
