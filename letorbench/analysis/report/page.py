"""The whole page: a section a data set, with its style and its script inside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from letorbench import __version__
from letorbench.analysis.cells import label
from letorbench.analysis.comparison import Procedure, compare
from letorbench.analysis.report import figures, tables
from letorbench.analysis.report.html import facts, folded, paragraph
from letorbench.analysis.report.stored import Results
from letorbench.analysis.tables import USUAL
from letorbench.conventions import convention
from letorbench.datasets.catalog import describe, parse

COMMON = (
    "A query without a relevant document counts 0 and stays in the mean. Equal scores rank in "
    "file order. The results table has the mean of the folds' means; intervals, differences and "
    "tests are of the pooled test queries of all folds."
)


def page(found: Sequence[Results], procedure: Procedure, measure: str, words: str) -> str:
    """The HTML of a report; `words` is the command line that asked for it."""
    names = ", ".join(results.dataset for results in found)
    style, script = (_resource(name) for name in ("report.css", "report.js"))
    links = "".join(
        f'<li><a href="#{escape(_anchor(each))}">{escape(each.dataset)}</a></li>' for each in found
    )
    sections = "\n".join(_section(each, procedure, measure) for each in found)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>letorbench report: {escape(names)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header>
<h1>Learning to rank: {escape(names)}</h1>
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
    parts = [
        f'<h2 id="{escape(_anchor(results))}">{escape(results.dataset)}</h2>',
        *_warnings(results),
        "<h3>Results</h3>", *_results(results, measure),
        f"<h3>{label('ndcg')}@n</h3>", figures.curves(results, "ndcg", procedure.seed),
    ]  # fmt: skip
    if len(results.algorithms) > 1:
        parts += _against(results, procedure, measure)
    drawn = figures.validation(results)
    if drawn:
        said = "A line a fold; the dot is what was kept. Nothing is chosen on test queries."
        parts += ["<h3>Validation</h3>", paragraph(said, "note"), drawn]
    parts += [
        "<h3>Chosen settings</h3>", tables.settings_table(results),
        "<h3>Timings</h3>", tables.timings_table(results),
        "<h3>How the numbers are made</h3>", *_conventions(results),
        "<h3>The data</h3>", _data(results),
        "<h3>Provenance</h3>", tables.provenance(results),
    ]  # fmt: skip
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _results(results: Results, measure: str) -> list[str]:
    """The usual measures, and every other one to be unfolded."""
    whole = results.summary.measures
    shown = [name for name in dict.fromkeys([*USUAL, measure]) if name in whole]
    first = tables.results_table(results, shown or whole)
    return [first, folded("Every measure", tables.results_table(results, whole))]


def _against(results: Results, procedure: Procedure, measure: str) -> list[str]:
    heading = f"<h3>{escape(label(measure))} against {escape(results.baseline)}</h3>"
    if results.summary.mixed:
        return [heading, paragraph("The algorithms were measured by several conventions, so they "
                                   "are not compared.")]  # fmt: skip
    systems = [algorithm.queries for algorithm in results.algorithms]
    pairs = compare(results.dataset, systems, measure, results.baseline, procedure)
    said = "Every bar is a query: how much better or worse it is ranked."
    return [
        heading, tables.comparison_table(pairs, procedure), paragraph(said, "note"),
        figures.differences(results, measure),
    ]  # fmt: skip


def _warnings(results: Results) -> list[str]:
    """What the folds' fits warn of, a line for all folds that say the same."""
    folds: dict[tuple[str, str], list[str]] = {}
    for algorithm in results.algorithms:
        for fold, fit in algorithm.fits.items():
            for text in fit.get("warnings", []):
                folds.setdefault((algorithm.name, str(text)), []).append(str(fold))
    if not folds:
        return ["<h3>Warnings</h3>", paragraph("None.")]
    items = "\n".join(
        f"<li><strong>{escape(algo)}</strong>, fold {', '.join(numbers)}: {escape(text)}</li>"
        for (algo, text), numbers in folds.items()
    )
    return ["<h3>Warnings</h3>", f"<ul>\n{items}\n</ul>"]


def _conventions(results: Results) -> list[str]:
    return [
        *(
            paragraph(f"Measures {rules.description} [{rules.name}]. {rules.rules}")
            for rules in map(convention, results.summary.conventions)
        ),
        paragraph(COMMON),
    ]


def _data(results: Results) -> str:
    """What the catalog knows of the data set, and the test queries of each fold."""
    entry = parse(results.dataset).entry
    rows = list(describe(entry)) if entry else [("name", f"{results.dataset}, a folder of yours")]
    folds = results.algorithms[0].queries.folds
    sizes = {k: int((folds == k).sum()) for k in sorted(set(folds.tolist()))}
    counts = ", ".join(f"fold {k}: {size:,}" for k, size in sizes.items())
    return facts([*rows, ("test queries", counts)])


def _anchor(results: Results) -> str:
    return "set-" + "".join(c if c.isalnum() else "-" for c in results.dataset.lower())


def _resource(name: str) -> str:
    return (resources.files("letorbench.analysis.report") / name).read_text(encoding="utf-8")
