"""The processor changes no bit of a model: not by BLAS's code, nor by NumPy's.

Processes whose NumPy and OpenBLAS are told to take the code that they have for other processors
fit every ranker to the built-in data, with few rounds.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import letorbench as lb

#: prints each ranker with a digest of its scores, of which those of regression are rounded
PROGRAM = """
import sys
from dataclasses import replace
from hashlib import blake2b
import numpy as np
sys.path.insert(0, sys.argv[1])
from conftest import few_rounds, learners
import letorbench as lb
from letorbench.rankers import ranker

fold = lb.load("DEMO", data_dir=sys.argv[2]).folds[0]
train, test = fold.train.take(np.arange(20)), fold.test
for name in sorted({*learners().values(), "recipe"}):
    if name in ("lightgbm", "xgboost", "catboost"):  # their own code is compiled once for all
        continue
    few = few_rounds(ranker(name))
    models = [{}]
    if name == "recipe":
        losses = ("neural-ndcg", "lambdaloss", "smooth", "wpll", "qnorm", "cross-entropy-ndcg")
        models = [{"loss": loss} for loss in losses]
        models += [{"model": model} for model in ("quadratic", "bilinear-tanh", "distance", "mlp")]
        models.append({"model": "trees", "loss": "wpll"})
    if name == "ndcgboost":
        models.append({"weak": "tree", "stumps": "exact"})
    if name == "ranksvm":
        models = [{"C": 1000.0}, {"loss": "hinge"}]
    for more in models:
        scores = ranker(name)(**few, **more).fit_sets(train, fold.validation).predict(test)
        if name == "regression":
            scores = scores.round(9)
        print(name, *more.values(), blake2b(scores.tobytes(), digest_size=6).hexdigest())
"""

#: what NumPy must not use to be as on a processor with AVX2 alone
WITHOUT_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"


def started(data_dir: Path, core: str, threads: int, without: str = "") -> subprocess.Popen:
    """Start the program with OpenBLAS's code for a core, and NumPy's without some instructions."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(Path(__file__).parent)]
    command.append(str(data_dir))
    environment = {
        "OPENBLAS_CORETYPE": core, "LETORBENCH_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads), "NPY_DISABLE_CPU_FEATURES": without,
    }  # fmt: skip
    return subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip


def has_avx512() -> bool:
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    return any("AVX512" in name or name == "X86_V4" for name in extensions.get("found", ()))


@pytest.mark.skipif(sys.platform == "darwin", reason="its NumPy has another BLAS")
def test_scores_do_not_depend_on_the_processor(tmp_path):
    lb.load("DEMO", data_dir=tmp_path)
    processes = [
        started(tmp_path, "Haswell", 1, WITHOUT_AVX512), started(tmp_path, "Nehalem", 2),
        *([started(tmp_path, "SkylakeX", 7)] if has_avx512() else []),
    ]  # fmt: skip
    expected, *others = [process.communicate()[0].splitlines() for process in processes]
    assert len(expected) >= 30 and not any(process.returncode for process in processes)
    for lines in others:
        assert [each for each in lines if each not in expected] == []
