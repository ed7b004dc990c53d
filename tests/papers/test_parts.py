"""The parts of papers that are functions, each run small and compared as a whole; what is kept."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from test_pages import as_shown
from toy_data import write_uneven

from letorbench.datasets.synthetic.cubic import permuted_cubic
from letorbench.papers import (
    PAPERS,
    consistency_2011,
    functionals,
    lambdarank_2006,
    reproduction,
    rules,
    runs,
)  # fmt: skip
from letorbench.papers import paper as made
from letorbench.papers.consistency_2011 import surrogates
from letorbench.papers.lambdarank_2006 import artificial_data
from letorbench.papers.ndcgboost_2009 import trainings
from letorbench.papers.reproduction import run_part
from letorbench.papers.runs import Context, Method, exactly
from letorbench.rankers.ndcgboost import NDCGBoost


@pytest.fixture
def context(tmp_path):
    return Context(tmp_path / "data", tmp_path / "results")


def run(paper, part, context):
    return run_part(made(paper), made(paper).parts[part], context)


@pytest.fixture
def fewer(context, monkeypatch):
    """Let a part of the NDCG Boost paper have two seeds and three rounds, on small data."""

    def change(part, **axes):
        write_uneven(context.data_dir / "OHSUMED", "QueryLevelNorm")
        monkeypatch.setattr(NDCGBoost, "rounds", 3)
        whole = made("ndcgboost-2009")
        own = replace(whole.parts[part], repeats=2)
        own = replace(own, axes={**own.axes, **axes})
        monkeypatch.setattr(trainings, "paper", lambda name: replace(whole, parts={part: own}))
        return own

    return change


def test_what_parts_say_without_data(context):
    """Those that are runs of methods; the others are shown where they are run."""
    text = ""
    for name in PAPERS:
        for part in made(name).parts.values():
            if part.form != "module":
                found = run_part(made(name), part, context)
                files = ", ".join(path.name for path in found.files) or "nothing"
                said = f"{name} {part.name}, {part.takes}: {files}"
                text += "".join(f"{line}\n" for line in (said, *found.differs))
                text += "".join(p.read_text() for p in found.files if p.suffix == ".md")
    as_shown("nothing.txt", text)


def test_the_theory_of_consistency_answers_as_on_its_page(tmp_path, monkeypatch):
    for name, value in (("DISTRIBUTIONS", 40), ("FULL", 80)):
        monkeypatch.setattr(consistency_2011, name, value)
    monkeypatch.setattr(surrogates, "STARTS", 1)
    context = Context(tmp_path, tmp_path, seed=3)
    found = run("consistency-2011", "theory", context)
    own = [claim for claim in made("consistency-2011").claims if claim.part == "theory"]
    answers = {claim.id: rules.judge(claim, {}, found.numbers).answer for claim in own}
    # the regret of the cosine, of proposition 7, is too small among so few
    refuted = {id for id, answer in answers.items() if answer == rules.SLIP}
    assert refuted == {"theorem-6-printed", "orders-printed", "proposition-7"}
    assert {*answers.values()} == {rules.CHECKED, rules.SLIP}
    as_shown("consistency.txt", replace(found, files=()))
    assert run("consistency-2011", "theory", context) == found  # as it was kept


def test_the_costs_of_quadratic_models_and_groups(context, monkeypatch):
    """On a clock by which a gradient takes its length, the documents' loss 3 ms, the groups' 2."""
    taken = iter((0.003, 0.002))

    def seconds(work):
        result = work()
        return float(len(result)) if isinstance(result, np.ndarray) else next(taken)

    kept, n = (20, 40, 80, 150), 20
    for name, value in {"TIMED": 3, "DOCUMENTS": 6, "FEATURES": n, "KEPT": kept, "LONG": 9,
                        "least_seconds": seconds}.items():  # fmt: skip
        monkeypatch.setattr(functionals, name, value)
    # coefficients, the other features and the gradient have a number a product
    as_shown("costs.txt", run("functionals", "costs", context))


def test_every_lambda_function_is_diagnosed_and_trained(context, monkeypatch):
    diagnose = partial(lambdarank_2006.diagnose, documents=5, trials=1)
    monkeypatch.setattr(lambdarank_2006, "diagnose", diagnose)
    monkeypatch.setattr(artificial_data, "FULL", (10, 10, 40))
    as_shown("jacobian.txt", run("lambdarank-2006", "jacobian", context))
    as_shown("lambdas.txt", run("lambdarank-2006", "lambdas", context))


def test_single_changes_are_means_over_folds_and_seeds(context, fewer):
    part = "single-changes"
    assert run("ndcgboost-2009", part, context).files == ()
    fewer(part)
    counts = run("ndcgboost-2009", "data", context).numbers
    folds = context.benchmark("OHSUMED").folds
    assert counts == {
        "OHSUMED queries": exactly(22.0), "OHSUMED features": exactly(45.0),
        "OHSUMED documents": exactly(float(sum(fold.test.n_docs for fold in folds))),
    }  # fmt: skip
    found = run("ndcgboost-2009", part, context)
    as_shown(f"{part}.txt", found.files)
    absent = "OHSUMED's .50 at NDCG@3: one change at a time: without Feature-min, not at hand"
    assert found.differs == (absent,)


def test_each_way_of_drawing_is_trained(context, fewer):
    ways = (trainings.EXACT, trainings.AVERAGE, trainings.PAPERS, trainings.EQUAL,
            "each at most once, half the effective number")  # fmt: skip
    every = made("ndcgboost-2009").parts["sampling"].axes["stumps"]
    fewer("sampling", stumps={name: every[name] for name in ways})
    as_shown("sampling.txt", run("ndcgboost-2009", "sampling", context))


def test_as_many_products_are_kept_as_the_paper_keeps(context, rng, monkeypatch):
    """Of each fold's correlations with the label, counted one by one; 0 keeps all that vary."""
    sets = permuted_cubic(rng, (40, 40), 12, 15)
    benchmark = SimpleNamespace(folds=[SimpleNamespace(train=each) for each in sets])
    monkeypatch.setattr(Context, "benchmark", lambda self, name: benchmark)
    tries = Method("q", "pairwise", {"keep": 0.25, "l2": 1.0})
    own = context.settled(tries, "OHSUMED").settings
    found = []
    for each in sets:
        x = each.features.astype(float)
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        every = [x[:, i] * x[:, j] for i in range(12) for j in range(i, 12)]
        found.append(sum(abs(np.corrcoef(p, each.labels)[0, 1]) >= own["rho"] for p in every))
    assert set(own) == {"rho", "l2"}
    assert np.mean(found) == pytest.approx(0.25 * 78, rel=0.15)
    twice = [tries, replace(tries, algo="wpl")]
    (line,) = reproduction.kept_products(context, "OHSUMED", twice)
    span = f"{min(found)} to {max(found)}" if min(found) < max(found) else min(found)
    kept = f"{span} (rho {own['rho']:g}) for the paper's q"
    assert line == f"of 78 products the folds of OHSUMED keep {kept}"
    every = replace(tries, settings={"keep": 1.0})
    assert context.settled(every, "OHSUMED").settings == {"rho": 0.0}
    (line,) = reproduction.kept_products(context, "OHSUMED", [every])
    assert "keep 78 (rho 0)" in line


def test_kept_facts_are_of_what_was_asked_and_of_their_code(tmp_path, monkeypatch):
    path, texts, made = tmp_path / "kept.json", {}, []
    digest = "letorbench.papers.runs.source_digest"
    monkeypatch.setattr(digest, lambda files: str([(f, texts.get(f)) for f in sorted(files)]))

    def get(n=1, make=lambda: made.append(1) or [len(made)]):
        return runs.kept(path, {"n": n}, make, "papers/rules.py", code=["losses"])

    assert get() == get() == [1]
    texts["papers/records.py"] = "# neither its own nor of a room\n"
    assert get() == [1]
    for number, file in enumerate(("papers/rules.py", "losses/__init__.py"), 2):
        texts[file] = "# another form\n"
        assert get() == get() == [number]
    assert get(n=2) == [4] and get() == [5]
    (tmp_path / "other").write_text("theirs")
    cut = path.read_bytes()[:-9]
    for spoil in (lambda: path.write_bytes(cut), lambda: path.symlink_to(tmp_path / "other")):
        count = len(made)
        path.unlink()
        spoil()
        assert get() == get() == [count + 1]
    assert (tmp_path / "other").read_text() == "theirs"
    with pytest.raises(ZeroDivisionError):
        get(3, lambda: 1 / 0)
    assert get() == [7]
