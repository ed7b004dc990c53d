"""NumPy's and OpenBLAS's code for another processor changes no byte of a ranker's scores."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

#: rankers whose linear algebra is LAPACK's, which docs/reproducibility.md names
BY_LAPACK = {"regression", "ranksvm", "svmmap"}

#: what stands for a processor without AVX-512
OTHER = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"}

FITS = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from dataclasses import fields
import numpy as np
from conftest import random_queries
from letorbench.rankers import names, ranker

train = random_queries(np.random.default_rng(6), [40, 25, 60, 33, 1, 17], n_features=19)
valid = random_queries(np.random.default_rng(7), [31, 29], n_features=19)
for name in names():
    cls = ranker(name)
    if not cls.available():
        continue
    few = {f.name: 7 for f in fields(cls) if f.name in ("rounds", "epochs", "iterations")}
    fitted = cls(**few).fit_sets(train, valid, np.random.default_rng(0))
    print(name, hashlib.sha256(fitted.predict(valid).tobytes()).hexdigest())
"""


def test_every_ranker_but_those_by_lapack() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FITS, str(Path(__file__).parent)]
    here, elsewhere = (
        set(subprocess.check_output(command, env=os.environ | more, text=True).splitlines())
        for more in ({}, OTHER)
    )
    differing = {line.split()[0] for line in here ^ elsewhere}
    assert here and differing <= BY_LAPACK
