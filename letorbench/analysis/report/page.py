"""The report: one page with a section a data set, with its style and its script inside.

A section opens with its conclusions and its results. What only some readers want, such as
warnings and settings, unfolds with a click.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from letorbench import __version__
from letorbench.analysis.comparison import Procedure, compare, comparison_table, power_table
from letorbench.analysis.report import charts
from letorbench.analysis.report.charts import folded
from letorbench.analysis.report.gather import Results, as_text, conclusions
from letorbench.analysis.results_table import USUAL, best_first, label, summary_table
from letorbench.analysis.tables import Cell, Table, columns, render
from letorbench.conventions import convention
from letorbench.datasets.catalog import describe, parse
from letorbench.escaping import html as escape
from letorbench.fit_warnings import FitWarning
from letorbench.results.store import fit_warnings

COMMON = (
    "A query without a relevant document counts 0 and stays in the mean. Equal scores rank in "
    "file order. The results table has the mean of the folds' means; intervals, differences and "
    "tests are of the pooled test queries of all folds. An algorithm that draws random numbers is "
    "run with several seeds: its numbers are means over them, ± is their standard deviation, and "
    "intervals and tests count queries and seeds. Validation curves, settings and warnings are of "
    "the first seed."
)


def page(reports: Sequence[Results], procedure: Procedure, measure: str, words: str) -> str:
    """The HTML of data sets whose algorithms are compared by the measure.

    words: the command line that made the report.
    """
    names = escape(", ".join(results.dataset for results in reports))
    files = resources.files("letorbench.analysis.report")
    style, script = ((files / name).read_text("utf-8") for name in ("report.css", "report.js"))
    links = "".join(
        f'<li><a href="#{escape(_anchor(each))}">{escape(each.dataset)}</a></li>'
        for each in reports
    )
    sections = "\n".join(_section(each, procedure, measure) for each in reports)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>letorbench report: {names}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header>
<h1>Learning to rank: {names}</h1>
<p class="note">letorbench {__version__}; made by <code>{escape(words)}</code></p>
<nav aria-label="Data sets"><ul>{links}</ul></nav>
</header>
<main id="main">
{sections}
</main>
<p id="said" class="skip" role="status" aria-live="polite"></p>
<script>
{script}</script>
</body>
</html>
"""


def _section(results: Results, procedure: Procedure, measure: str) -> str:
    first = charts.named(results, measure)
    parts = [
        f'<h2 id="{escape(_anchor(results))}">{escape(results.dataset)}</h2>',
        *(paragraph(each, "lead") for each in conclusions(results, procedure, measure)),
        "<h3>Results</h3>", *_results(results, measure),
        "<h3>Warnings</h3>", _warnings(results),
        f"<h3>{label('ndcg')}@n</h3>", charts.curves(results, "ndcg"),
    ]  # fmt: skip
    if len(results.algorithms) > 1:
        parts += _against(results, first, procedure, measure)
    drawn = charts.validation(results, first)
    if drawn:
        note = "A line a fold; the dot is what was kept. Nothing is chosen on test queries."
        parts += ["<h3>Validation</h3>", paragraph(note, "note"), drawn]
    parts += [
        "<h3>Chosen settings</h3>",
        folded("Settings of every fold", render(_settings(results), "html")),
        "<h3>Timings</h3>", folded("Seconds", render(_timings(results), "html")),
        "<h3>How the numbers are made</h3>",
        *(
            paragraph(f"Measures {rules.description} [{rules.name}]. {rules.rules}")
            for rules in map(convention, results.summary.conventions)
        ),
        paragraph(COMMON),
        "<h3>The data</h3>", _data(results),
        "<h3>Provenance</h3>", _versions(results),
    ]  # fmt: skip
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _results(results: Results, measure: str) -> list[str]:
    """The best algorithm by the measure first; the usual measures, the others unfold."""
    rows = best_first(results.summary.rows, measure)
    summary = replace(results.summary, rows=tuple(rows))
    shown = [name for name in dict.fromkeys([*USUAL, measure]) if name in summary.measures]
    every = render(summary_table(summary, summary.measures), "html")
    return [render(summary_table(summary, shown), "html"), folded("Every measure", every)]


def _against(
    results: Results, first: Sequence[str], procedure: Procedure, measure: str
) -> list[str]:
    """Every algorithm against the baseline: the tests, and the queries one by one."""
    heading = f"<h3>{escape(label(measure))} against {escape(results.baseline)}</h3>"
    if results.summary.mixed:
        return [heading, paragraph("The algorithms were measured by several conventions, so they "
                                   "are not compared.")]  # fmt: skip
    systems = [algorithm.queries for algorithm in results.algorithms]
    pairs = compare(results.dataset, systems, measure, results.baseline, procedure)
    table = comparison_table(pairs, procedure, results.summary.conventions[0])
    power = power_table(pairs, results.summary.conventions[0])
    note = (
        "Effect is Cohen's d_z. In the charts every bar is a query: how much better or worse the "
        "algorithm ranks it than the baseline does."
    )
    return [
        heading,
        render(table, "html"),
        folded("How many queries would settle it", render(power, "html")),
        paragraph(note, "note"),
        charts.gains(results, first, measure),
    ]


def _warnings(results: Results) -> str:
    """How many warnings training gave; a row each unfolds, the most serious first."""
    folds: dict[tuple[str, FitWarning], list[int]] = {}
    for algorithm in results.algorithms:
        for fold, fit in algorithm.fits.items():
            for warning in fit_warnings(fit):
                folds.setdefault((algorithm.name, warning), []).append(fold)
    if not folds:
        return paragraph("None.")
    rows = [
        tuple(map(Cell, (name, warning.kind, ", ".join(map(str, numbers)), warning.text)))
        for (name, warning), numbers in sorted(folds.items(), key=lambda each: each[0][1].rank)
    ]
    count, names = sum(map(len, folds.values())), {name for name, _ in folds}
    title = (
        f"{count} warning{'s' * (count > 1)} from {len(names)} of {len(results.algorithms)} "
        "algorithms, the most serious first"
    )
    heads = columns(["algorithm", "kind", "folds", "text"])
    return folded(title, render(Table("What training warned of", heads, tuple(rows)), "html"))


def _settings(results: Results) -> Table:
    """What validation chose in every fold."""
    rows = []
    for algorithm in results.algorithms:
        for fold, fit in algorithm.fits.items():
            validation = fit.get("validation", {})
            value, best = validation.get("value"), validation.get("best")
            row = (
                Cell(algorithm.name),
                Cell(_chosen(fit)),
                Cell(str(fold), fold),
                Cell("" if best is None else str(best), best),
                Cell("" if value is None else f"{value:.4f}", value),
            )
            rows.append(row)
    measure = next((name for a in results.algorithms if (name := a.shared("select"))), "measure")
    heads = ["fold", "rounds or epochs", f"validation {label(measure)}"]
    caption = "Chosen on the validation part of each fold"
    return Table(caption, columns(["algorithm", "settings"], heads), tuple(rows))


def _chosen(fit: Mapping[str, Any]) -> str:
    """The settings that were chosen from a grid; all settings where there was no grid."""
    chosen, grid = fit.get("chosen", {}), fit.get("identity", {}).get("grid", {})
    names = [name for name in chosen if name in grid] or list(chosen)
    return ", ".join(f"{name} = {as_text(chosen[name])}" for name in names)


def _timings(results: Results) -> Table:
    """Seconds of all folds, selection included."""
    rows = []
    for each in results.algorithms:
        grids = [fit.get("validation", {}).get("grid", []) for fit in each.fits.values()]
        trained, a_fold = sum(max(1, len(grid)) for grid in grids), each.seconds / len(each.fits)
        rows.append((Cell(each.name), Cell(f"{each.seconds:.2f}", each.seconds),
                     Cell(f"{a_fold:.2f}", a_fold), Cell(str(trained), trained)))  # fmt: skip
    heads = columns(["algorithm"], ["seconds", "seconds a fold", "models trained"])
    return Table("Training, selection and scoring of all folds", heads, tuple(rows))


def _data(results: Results) -> str:
    """What the catalog knows of the data set, and the test queries of each fold."""
    entry = parse(results.dataset).entry
    rows = list(describe(entry)) if entry else [("name", f"{results.dataset}, a folder of yours")]
    folds = max((each.queries.folds for each in results.algorithms), key=len)
    sizes = {k: int((folds == k).sum()) for k in sorted(set(folds.tolist()))}
    counts = ", ".join(f"fold {k}: {size:,}" for k, size in sizes.items())
    return facts([*rows, ("test queries", counts)])


def _versions(results: Results) -> str:
    """Where the numbers come from: versions, the digest of the data, seeds."""
    versions: dict[str, set[str]] = {}
    for algorithm in results.algorithms:
        for fit in algorithm.fits.values():
            for name, version in fit.get("versions", {}).items():
                versions.setdefault(name, set()).add(str(version))
    rows = [(name, ", ".join(sorted(each))) for name, each in versions.items()]
    digests = {str(a.shared("data")) for a in results.algorithms}
    rows.append(("data (blake2b of the files)", ", ".join(sorted(digests))))
    seeds = {str(a.shared("seed")) for a in results.algorithms if a.shared("seed") is not None}
    return facts([*rows, ("seed", ", ".join(sorted(seeds)) or "none")])


def _anchor(results: Results) -> str:
    return "set-" + "".join(c if c.isalnum() else "-" for c in results.dataset.lower())


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and what they are; a web address becomes a link."""
    items = "\n".join(f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in rows)
    return f"<dl>\n{items}\n</dl>"


def _linked(text: str) -> str:
    words = map(escape, text.split(" "))
    linked = ("https://", "http://")
    return " ".join(f'<a href="{w}">{w}</a>' if w.startswith(linked) else w for w in words)


def paragraph(text: str, classes: str = "") -> str:
    return f'<p class="{classes}">{escape(text)}</p>' if classes else f"<p>{escape(text)}</p>"
