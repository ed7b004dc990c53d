"""A plug-in ranker that takes a while, says where it is, and is held or kills its process."""

from __future__ import annotations

from pathlib import Path

#: beside its file are `marks`, a file a process, and `hold`: words that say which fits wait
SLOW = '''
from dataclasses import dataclass
from pathlib import Path
import os, time

import numpy as np

from letorbench.models import Linear
from letorbench.rankers import FitResult, Ranker

MARKS = Path(__file__).parent / "marks"
HOLD = Path(__file__).parent / "hold"


@dataclass
class Slow(Ranker):
    """Takes half a second, and longer where its process or its validation queries are held."""

    name = "slow"
    title = "Slow"
    paper = "none"
    formula = "none"
    kills: bool = False

    def learn(self, train, validation, rng):
        MARKS.mkdir(exist_ok=True)
        first = validation.queries.qids[0]
        if self.kills and first == "1":
            os._exit(1)
        mark = MARKS / str(os.getpid())
        mark.write_text("busy")
        time.sleep(0.5)
        end = time.monotonic() + 300
        while {str(os.getpid()), f"query-{first}"} & held() and time.monotonic() < end:
            mark.write_text("held")
            time.sleep(0.05)
        mark.write_text("done")
        return FitResult(Linear(np.arange(1.0, 1.0 + train.n_features), 0.0))


def held():
    return set(HOLD.read_text().split()) if HOLD.exists() else set()
'''


def write_slow(folder: Path) -> Path:
    """Write the plug-in into a folder; return its file."""
    file = folder / "slow.py"
    file.write_text(SLOW)
    return file


def marks(folder: Path, text: str) -> list[int]:
    """Return the processes of the folder of marks whose last fit left this one."""
    return [int(mark.name) for mark in folder.glob("*") if mark.read_text() == text]
