"""Printed tables: none of Microsoft's numbers is impossible, and planted errors are found."""

from collections import Counter
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest
from conftest import call, numbers, parts_of, random_queries, refused, same
from toy_data import sample_row

from letorbench.analysis.results_table import summary_table
from letorbench.analysis.tables import render
from letorbench.conventions import CONVENTIONS, convention
from letorbench.datasets import catalog
from letorbench.datasets.archive import import_archive
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError
from letorbench.measures import parse, query_metrics
from letorbench.results.dataset_results import DatasetResults
from letorbench.verify import plain
from letorbench.verify.numbers import Known, Printed, judged_folds, known_facts
from letorbench.verify.printed import check_by_data, check_table
from letorbench.verify.tables_read import Entry, read_table

NAMES = [*(f"p@{k}" for k in range(1, 11)), *(f"ndcg@{k}" for k in (1, 3, 10)), "map"]


@pytest.fixture(scope="module")
def made() -> tuple[list[Entry], dict[tuple[str, str, int], Known]]:
    """A sound table of two rankers on five folds, with four digits, and what its data say."""
    rng, rules = np.random.default_rng(3), CONVENTIONS["letor4"]
    measures, values, known = [parse(name) for name in NAMES], {}, {}
    for fold in range(1, 6):
        queries = random_queries(rng, rng.integers(5, 20, 95 + 2 * fold).tolist(), levels=3)
        known["D", "test", fold] = known_facts(queries, NAMES, rules)
        for algo, noise in (("a", 1.0), ("b", 3.0)):
            scores = queries.labels + noise * rng.normal(size=queries.n_docs)
            table = query_metrics(queries.labels, scores, queries.offsets, measures, rules)
            values[algo, fold] = table.mean(axis=0)
    for algo in "ab":
        values[algo, 0] = np.mean([values[algo, fold] for fold in range(1, 6)], axis=0)
    rows = (
        ("D", algo, "test", fold, name, Printed.of(f"{number:.4f}"))
        for (algo, fold), means in values.items()
        for name, number in zip(NAMES, means)
    )
    return [Entry(*row, line) for line, row in enumerate(rows, 2)], known


def slipped(made, fold: int, name: str, by: float, algo: str = "a") -> list[Entry]:
    """The sound table with something added to one number."""
    (at,) = (i for i, e in enumerate(made) if e[1:5] == (algo, "test", fold, name))
    entry = made[at]._replace(number=Printed.of(f"{made[at].number.value + by:.4f}"))
    return [*made[:at], entry, *made[at + 1 :]]


def test_a_sound_table_is_found_sound_and_a_mean_of_folds_is_no_count(made):
    assert check_table(made[0]) == check_table(*made) == []
    own = [entry for entry in slipped(made[0], 2, "p@1", 0.002) if entry.fold == 2]
    assert [found.check for found in check_table(own)] == ["grid"]
    assert check_table([entry._replace(fold=0) for entry in own]) == []


def test_microsofts_tables_have_no_impossible_number(shared):
    entries = read_table(shared / "published" / "letor4-printed.csv")
    assert len(entries) == 3960 and check_table(entries) == []


def odd(made: list[Entry], kind: str, pairs: int, same: int) -> list[Entry]:
    """The sound table with rows beside it of which so many are as those of an algorithm."""
    part, shift, by = {"rotation": ("validation", 1, 0.0), "order": ("train", 0, -0.002)}.get(
        kind, ("test", 0, 0.0)
    )
    own = [e for e in made if e.algorithm == "a" and e.fold][-pairs:]
    moved = [
        e._replace(
            line=e.line + 1000, part=part, fold=(e.fold + shift - 1) % 5 + 1,
            algorithm="c" if kind == "twice" else "a",
            number=Printed.of(f"{e.number.value + (by if i < same else 0.0011):.4f}"),
        )
        for i, e in enumerate(own)
    ]  # fmt: skip
    twins = [e._replace(algorithm="d", line=e.line + 2000) for e in own if kind == "twice"]
    return [*made, *moved, *twins]


FINDINGS = Path(__file__).with_name("findings.txt")
CASES = parts_of(FINDINGS)


@pytest.mark.parametrize("case", CASES)
def test_a_planted_error_is_found_and_said(made, case):
    """findings.txt has the fold, the measure and what is added to it, or what looks odd."""
    entries, known = made
    name, one, other, data = case.split()
    if name in ("rotation", "order", "twice"):
        wrong = odd(entries, name, int(one), int(other))
    else:
        wrong = slipped(entries, int(one), name, float(other))
    found = check_table(wrong, known if data == "data" else None)
    said = [f"{e.level} {e.check} {','.join(map(str, e.lines))}: {e.what}\n" for e in found]
    same(FINDINGS, f"$ {case}\n{CASES[case]}", f"$ {case}\n{numbers(''.join(said))}")


@pytest.mark.parametrize("rules", [*CONVENTIONS, "letor4,ideal=list", "mslr,empty=drop,relevant=2"])
def test_what_data_say_holds_for_every_ranking(rules, rng):
    """The bounds are the plain definition's of the ideal order and of its reverse."""
    queries, rules = random_queries(rng, [1, 2, 5, 4, 3, *[1] * 9], levels=4), convention(rules)
    known = known_facts(queries, {*NAMES, "rmse", "odd", "p@x"}, rules)
    assert set(known.bounds) == {name for name in NAMES if rules.apart(name) is not None}
    labels, gains = np.split(queries.labels, queries.offsets[1:-1]), rules.gains(4)
    for name, bounds in known.bounds.items():
        for sign, bound in zip((-1.0, 1.0), bounds):
            pairs = [(own.tolist(), (sign * own).tolist()) for own in labels]
            values = [plain.values([name], *pair, rules)[0] for pair in pairs]
            assert bound == pytest.approx(np.nanmean(values)), (name, sign)
    counted = [own for own in labels if rules.empty != "drop" or own.max() >= rules.relevant]
    assert known.queries == len(counted)
    whole = rules.ties != "mean" and rules.ideal == "k" and (gains == gains.round()).all()
    assert (known.ndcg1 > 0) == whole
    for own in counted:
        firsts = [
            plain.values(["ndcg@1"], own.tolist(), first, rules)[0] for first in np.eye(len(own))
        ]
        steps = np.multiply(firsts, known.ndcg1)
        assert not whole or np.allclose(steps, steps.round())


@pytest.mark.parametrize(("wrong", "found"), [(3, 3), (4, 0)])
def test_what_more_than_15_in_100_numbers_fail_is_no_slip_of_theirs(wrong, found):
    entries = [
        Entry("D", f"a{i}", "test", 1, f"p@{k}", Printed.of(value), 2 * i + k)
        for i in range(20)
        for k, value in ((1, ".9"), (2, ".1" if i < wrong else ".5"))
    ]
    assert len(check_table(entries)) == found


HEAD = "dataset,algorithm,part,fold,measure,value\n"


def test_odd_rows_end_with_1_and_impossible_ones_with_3(tmp_path):
    """Better on test than on training data in every number, as if it were chosen on test data."""
    path, odd = tmp_path / "t.csv", [
        f"OWN,a,{part},{fold},p@{cut},{value + fold / 1000 + cut / 1e4:.4f}"
        for fold, cut in product(range(1, 6), repeat=2)
        for part, value in (("train", 0.4), ("test", 0.5))
    ]  # fmt: skip
    for status, rows in ((0, odd[:1]), (1, odd), (3, [*odd, "OWN,b,test,1,map,1.2"])):
        path.write_text(HEAD + "\n".join(rows))
        assert call("verify", str(path)).exit_code == status


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('D,a,test,1,map,"0.5\nD,a,test,1,p@1,.5', ":2: unexpected end of data"),
        ("D,a,test,1,map,-", ": found no number"),
        (f"D,a,test,{'9' * 5000},map,.5", ":2: found the fold '9999"),
        ("D,a,test,1,ndcg@0,.5", ":2: "),
        ("D,a,test,1,map@x,.5", ":2: "),
        ("D,a,test,1,map,1e999", ":2: found '1e999'"),
        ("D,\xff,test,1,map@,.5", ":2: "),
        ("\0", "UTF-16"),
    ],
)
def test_what_cannot_be_in_a_table_is_refused(tmp_path, row, said):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + row, encoding="utf-16" if "16" in said else "utf-8")
    assert said in refused(1, "verify", str(path))


def test_a_row_of_aligned_text_with_a_number_too_many_is_named_by_its_line(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("x  map  mrr\na  .1  .2\nb  .1  .2\nc  .1  .2  .3\n")
    error = refused(1, "verify", str(path))
    assert error.endswith(f" {path}:4: found 4 columns, expected 3\n") and error.count("t.txt") == 1


KNOWN = ("OHSUMED", "MQ2008")
MEASURES = [
    *(f"{name}@{k}" for name in ("ndcg", "p", "err") for k in (1, 3, 10, 16)),
    *("map", "mrr", "mean-ndcg", "rbp", "wta", "pairwise", "auc", "bpref"),
]


@pytest.fixture(scope="module", params=KNOWN)
def data(request, shared, tmp_path_factory) -> Benchmark:
    folder = tmp_path_factory.mktemp(request.param)
    import_archive(shared / "archives" / f"{request.param}.zip", folder)
    return load(request.param, folder)


def test_the_counts_and_bounds_are_those_of_the_data(data):
    """RENEW=1 writes the data set's lines of the table; parts have the conventions in turn."""
    lines, rules = [], cycle(CONVENTIONS.values())
    for ours, fold in zip(judged_folds(data.name), data.folds, strict=True):
        of_queries = np.split(fold.test.labels, fold.test.offsets[1:-1])
        counts = Counter(tuple(np.bincount(own, minlength=3).tolist()) for own in of_queries)
        lines += [f"{data.name},{fold.number},{n},{','.join(map(str, each))}\n"
                  for each, n in sorted(counts.items())]  # fmt: skip
        for part, queries in fold.parts.items():
            by = next(rules)
            known, expected = (known_facts(q, MEASURES, by) for q in (ours.parts[part], queries))
            assert (known.queries, known.ndcg1) == (expected.queries, expected.ndcg1)
            for measure, bounds in expected.bounds.items():
                assert known.bounds[measure] == pytest.approx(bounds, abs=1e-12)
    table = Path(catalog.__file__).with_name("judged.csv")
    head, *kept = table.read_text().splitlines(keepends=True)
    same(table, "".join(line for line in kept if line.startswith(data.name)), "".join(lines))
    assert head == "dataset,fold,queries,label 0,label 1,label 2\n"
    assert {line.partition(",")[0] for line in kept} == set(KNOWN)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("MQ2008,a,test,,map,0.99", "above the ideal order of these queries, 0.7194"),
        ("MQ2008,a,test,,ndcg@10,0.95", "above the ideal order of these queries, 0.3737"),
        ("mq2008,a,,mean,P@10,30.1%", "above the ideal order of these queries, 0.2986"),
        ("OHSUMED,a,test,,ndcg@1,0.995", "above the ideal order of these queries, 0.9906"),
        ("MQ2008,a,train,5,ndcg@5,0.95", "above the ideal order"),
        ("OHSUMED,a,test,,map,0.1", "below the worst order of these queries, 0."),
        ("MQ2008,a,test,,map,0.719", ""),
        ("MQ2007,a,test,,map,0.99", ""),
    ],
)
def test_a_number_beyond_the_bound_is_named_without_data(tmp_path, row, said):
    path = tmp_path / "t.csv"
    path.write_text(HEAD + row + "\n")
    found, _, rules = check_by_data(read_table(path), tmp_path / "none", "auto")
    assert rules == "auto" and len(found) == bool(said)
    assert all(each.level == "impossible" and said in each.what for each in found)


def test_a_convention_that_would_allow_few_numbers_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{HEAD}MQ2008,a,test,,ndcg@10,0.65\n")
    (found,) = check_by_data(read_table(path), tmp_path, "auto")[0]
    assert "; mslr" not in found.what and "standard" in found.what and "would allow" in found.what
    assert check_by_data(read_table(path), tmp_path, "standard")[0] == []
    path.write_text(HEAD + "".join(f"MQ2008,a{i},test,,ndcg@10,0.65\n" for i in range(20)))
    assert check_by_data(read_table(path), tmp_path, "auto")[::2] == ([], "standard")


def test_the_own_convention_of_a_data_set_is_named_first_and_equal_ones_with_it(tmp_path):
    """At rank 1 the LETOR tools and the textbook agree; a folder or a shape names the data set."""
    texts = {"MQ2008/a": "2 qid:1 1:1\n0 qid:1 1:0\n", "b": "1 qid:1 45:1\n0 qid:1 1:0\n",
             "c": "1 qid:1 1:1\n0 qid:1 1:0\n"}  # fmt: skip
    (tmp_path / "MQ2008").mkdir()
    (tmp_path / "scores").write_text("2\n1\n")
    for (place, text), own in zip(texts.items(), ("letor4", "letor3", "")):
        (tmp_path / place).write_text(text)
        words = ("--data", str(tmp_path / place), "--scores", str(tmp_path / "scores"))
        said = call("verify", "1.0", *words, "--measure", "ndcg@1").output
        first, _, equal = said.partition("ndcg@1 by ")[2].partition(" (equal here: ")
        names = {first, *equal.partition(")")[0].split(", ")}
        assert first == (own or first) and names >= {"letor3", "letor4", "standard", "mslr"}


#: the same six numbers in the forms of papers and tools
PRINTED = {
    "MQ2008.csv": "algo,folds,NDCG@1,NDCG@1-sd,Precision@3,map\n"
    "a,5,0.33,.01,.25,0.46\nb,5,0.30,.02,,.47 ± .01\n",
    "own.md": "OHSUMED, then MQ2008\n\n| Method | N@1 | *P@3* | MAP |\n|---|--:|:-:|---|\n"
    "| `a` | **0.33** | .25* | 0.46 |\n| b | 0.30 | - | .47 (.01) |\n",
    "own.tex": r"""\begin{table} % 0.99
\caption{\textsc{MQ2008}, 2 systems}
\begin{tabular*}{\textwidth}{@{}l|ccc@{}} \toprule
 & \multicolumn{1}{c}{\textbf{NDCG}} & P & MAP \\ \cmidrule(lr){2-3}
 & @1 & @3 & \\[2pt] \midrule
a & \underline{0.33}$^{*1}$ & .25 & 0.46 \\
b & 0.30 & -- & $.47_{\pm .01}$ \\ \bottomrule
\end{tabular*}
\end{table}
""",
    "rows.csv": "measure,a,b\nMQ2008,,\nnDCG@1,0.33,0.30\nP@3,0.25,\nMAP,0.46,0.47\n",
    "spanned.tex": r"""\begin{tabular}{llrrr}
Data set & Ranker & NDCG@1 (\%) & P@3 & MAP \\ \hline
\multirow{2}{*}{MQ2008} & a & 33 & 25\% & 46 \\
 & b & 30 & & 47 \\
\multicolumn{5}{l}{OHSUMED} \\ \end{tabular}""",
    "comma.csv": "MQ2008;ndcg_1;P3;mAP;s\na;0,33;2,5e-1;0,46;3\nb;,30;;,47;x\n",
    "MQ2008-own.md": "x | NDCG@1 | P@3 | MAP\n--|:-:|--|--\na | __.33__ | .25 | .46\n"
    "b | 0.30 | - | 0.47\n",
    "comma.tex": r"""\begin{tabu} to \linewidth {lccc} MQ2008 & NDCG$_{1}$ & P@$3$ & MAP \\
a & 0{,}33 & $2.5 \times 10^{-1}$ & 0,46 \\
b & 0{,}30 $\pm$ 0{,}1 & -- & 0,47 \\ \end{tabu}""",
    "own.txt": "MQ2008: a caption, long\nranker   NDCG@1  P@3   MAP\na         0.33*  .25   .46\n"
    "b          0.30    -  0.47\nfolds differ by up to 0.01\ntuned: a (3 times)\n",
    "pdf.txt": "MQ2008\nRanker NDCG@1 P@3 MAP\na 0.33 ± .01 .25 .46\nb 0.30 - .47\n3 of 4 times\n",
    "ranks.tex": r"""\begin{tabular}{lccc} \caption{MQ2008}
 & NDCG@$k$ & P@$n$ & MAP \\
 & $k{=}1$ & 3 & \\
a & 33 & 25\% & 46 \\
b & 30\% & & \SI{47}{\percent} \\ \end{tabular}""",
    "layout.txt": "MQ2008\n        NDCG@1  P@3   MAP\na         0.33  .25   .46\n"
    "b         0.30    -  0.47\n",
    "caption.txt": "Table 1: NDCG of rankers on MQ2008\nRanker  NDCG@1 P@3   MAP\n"
    "a 0.33  .25 .46\nb  0.30 -  .47\nWe see MAP and NDCG again\n",
    "grid.rst": "MQ2008\n\n+---+--------+-----+-----+\n|   | NDCG@1 | P@3 | MAP |\n"
    "+===+========+=====+=====+\n| a | 0.33   | .25 | .46 |\n+---+--------+-----+-----+\n"
    "| b | 0.30   |     | .47 |\n+---+--------+-----+-----+\n",
    "rich.txt": "MQ2008\n┏━━━┳━━━━━━━━┓\n┃   ┃ NDCG@1 ┃ P@3 ┃ MAP ┃\n┡━━━╇━━━━━━━━┩\n"
    "│ a │ 0.33   │ .25 │ .46 │\n├───┼────────┤\n│ b │ .30 │ - │ .47 │\n└───┴────────┘\n",
    "simple.rst": "MQ2008\n\n===  ======  ===  ===\n     NDCG@1  P@3  MAP\n===  ======  ===  ===\n"
    "a      0.33  .25  .46\nb      0.30    -  .47\n===  ======  ===  ===\n",
    "tabs.csv": "data\tx\tndcg@1\tp@3\tmap\nMQ2008\ta\t.33\t.25\t.46\n\tb\t.30\t\t.47\n",
}


@pytest.mark.parametrize("name", PRINTED)
def test_tables_are_read_as_they_are_printed(tmp_path, name):
    path = tmp_path / name
    path.write_text(PRINTED[name])
    expected = {
        ("MQ2008", algo, "test", 0, measure): value
        for algo, values in (("a", (0.33, 0.25, 0.46)), ("b", (0.30, None, 0.47)))
        for measure, value in zip(("ndcg@1", "p@3", "map"), values)
        if value
    }
    entries = read_table(path)
    assert {each[:5]: pytest.approx(each.number.value) for each in entries} == expected
    lines = PRINTED[name].replace("{,}", ".").replace(",", ".").splitlines()
    for entry in entries:
        assert entry.number.unit == pytest.approx(0.01)
        digits = entry.number.text.lstrip("0").removesuffix("%").removesuffix("e-1")
        assert digits in lines[entry.line - 1]


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_names_of_any_signs_are_read_as_our_tables_print_them(tmp_path, form):
    names = ["a|b", "a b", "a\\b", "_a_", "50%", "x^2", "~x", "{x}", "R&D", "&lt;", "**x**", "#1"]
    rows = tuple(sample_row(name, {"map": 0.25 + k / 100}) for k, name in enumerate(names))
    (tmp_path / "t").write_text(render(summary_table(DatasetResults("S", rows), ["map"]), form))
    read = read_table(tmp_path / "t")
    assert [each.algorithm for each in read] == names
    values = [0.25 + k / 100 for k in range(len(names))]
    assert [each.number.value for each in read] == pytest.approx(values)


def test_a_caption_names_the_measure_of_columns_that_are_ranks(tmp_path):
    path = tmp_path / "t.tex"
    path.write_text(
        r"""\begin{table} \caption{NDCG@$n$ on MQ2008}
\begin{tabular}{lcc} n & 1 & 3 \\ \hline
a & .3 & .4 \\ \end{tabular} \end{table}"""
    )
    (one, other) = read_table(path)
    assert one[:5] == ("MQ2008", "a", "test", 0, "ndcg@1") and one.number.value == 0.3
    assert other.measure == "ndcg@3" and other.line == 3


def test_tables_in_per_cent_and_in_fractions_are_told_apart(tmp_path):
    path = tmp_path / "MQ2008.md"
    path.write_text("|x|map|mrr|\n|a|45|60|\n|b|44|61|\n\n|x|p@1|\n|a|.5|\n|b|.4|\n")
    values = [each.number.value for each in read_table(path)]
    assert values == pytest.approx([0.45, 0.6, 0.44, 0.61, 0.5, 0.4])


def test_numbers_that_are_not_read_are_named(tmp_path):
    path, left_out = tmp_path / "t.csv", set[str]()
    path.write_text("x,map,NDCG*,note,\na,.5,.6,good,7\n")
    assert len(read_table(path, left_out)) == 1 and left_out == {"NDCG*", "column 5"}
    path.write_text("fold,map\n1,.5\n2,.7\nmean,.6\nStd.,.1\n")
    assert len(read_table(path, left_out := set())) == 3 and left_out == {"Std."}
    path.write_text("x,a,b\nmap,.5,.6\ngain,,+2%\nnote,good,bad\n")
    assert len(read_table(path, left_out := set())) == 2 and left_out == {"gain"}
    assert "; not read: gain: 0 impossible" in call("verify", str(path)).output


def test_signs_and_points_are_those_of_typesetters(tmp_path):
    path = tmp_path / "t.md"
    cells = ("−.25", "–0.25", "- 0.25", "−0·25", "-2.5e−1")
    path.write_text("|x|tau|\n" + "".join(f"|{k}|{cell}|\n" for k, cell in enumerate(cells)))
    assert [each.number.value for each in read_table(path)] == [-0.25] * len(cells)
    path.write_text(r"\begin{tabular}{lc} & tau \\ a & $-$.25 \end{tabular}")
    assert read_table(path)[0].number.value == -0.25


def test_every_table_of_a_text_is_read_with_its_data_set(tmp_path):
    path, table = tmp_path / "t.md", "| x | map |\n|---|---|\n| a | {} |\n"
    path.write_text(f"OHSUMED:\n{table.format('.1')}\nMQ2008:\n\n{table.format('.99')}")
    found, there, _ = check_by_data(read_table(path), tmp_path, "auto")
    assert there == ["MQ2008", "OHSUMED"] and [each.lines for each in found] == [(4,), (10,)]
    # data sets side by side, and one that spans a row, which has digits
    path.write_text(
        r"""\begin{tabular}{@{}l@{\hspace{1em}}cccc@{}}
& \multicolumn{2}{c}{MQ2008} & \multicolumn{2}{c}{OHSUMED} \\ \cmidrule(lr){2-3}
x & MAP & N@1 & AP & N@1 \\ % \\
\rowcolor{gray!20} a\cite{b1} & .1 & .2 &
.3 & .4\phantom{0} \\ %b & .5 \\
\end{tabular}\begin{tabular}{lc} & MAP \\ \multicolumn{2}{l}{MQ2007} \\ a & 50\,\% \\"""
        r"\multicolumn{2}{l}{TD2003} \\ a & .6 \end{tabular}"
    )
    assert [(*e[:2], e.measure, e.number.value, e.line) for e in read_table(path)] == [
        ("MQ2008", "a", "map", 0.1, 5), ("MQ2008", "a", "ndcg@1", 0.2, 5),
        ("OHSUMED", "a", "map", 0.3, 5), ("OHSUMED", "a", "ndcg@1", 0.4, 5),
        ("MQ2007", "a", "map", 0.5, 6), ("TD2003", "a", "map", 0.6, 6),
    ]  # fmt: skip
    for text, said in (
        ("|x|y|\n|a|.5|\n", "t.md:1: .* columns x, y, expected dataset"),
        ("", "t.md:1: found the columns , expected dataset"),
        ("|x|map|\n|a|0,5,5|\n", "t.md:2: found '0,5,5'"),
        ("x map mrr\na .5 .6 .7\n", "t.md:2: found 4 columns, expected 3"),
        ("|x|map|\n|a|.1|\n|a|.2|\n", "t.md:3: .* line 2 again"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=said):
            read_table(path)
