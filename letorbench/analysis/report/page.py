"""The whole page: a section a data set, with its style and its script inside.

A section opens with its conclusions and its results. What only some readers want, such as
warnings, settings and commands, unfolds with a click.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import resources

from letorbench import __version__
from letorbench.analysis.comparison import Procedure, compare
from letorbench.analysis.comparison_table import comparison_table
from letorbench.analysis.report import charts, sections
from letorbench.analysis.report.conclusions import conclusions
from letorbench.analysis.report.gather import Results
from letorbench.analysis.report.html import facts, folded, paragraph, table
from letorbench.analysis.report.warning_lines import warnings
from letorbench.analysis.results_table import USUAL, label, summary_table
from letorbench.conventions import convention
from letorbench.datasets.catalog import describe, parse
from letorbench.escaping import html as escape

COMMON = (
    "A query without a relevant document counts 0 and stays in the mean. Equal scores rank in "
    "file order. The results table has the mean of the folds' means; intervals, differences and "
    "tests are of the pooled test queries of all folds. An algorithm that draws random numbers is "
    "run with several seeds: its numbers are means over them, ± is their standard deviation, and "
    "intervals and tests count queries and seeds. Validation curves, settings and warnings are of "
    "the first seed."
)


def page(found: Sequence[Results], procedure: Procedure, measure: str, words: str) -> str:
    """The HTML of a report.

    Parameters
    ----------
    found : sequence of Results
        The data sets, each with its algorithms and its baseline.
    procedure : Procedure
        How differences are tested.
    measure : str
        What algorithms are compared by, such as `ndcg@10`.
    words : str
        The command line that asked for the report.
    """
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
    named = charts.named(results, measure)
    parts = [
        f'<h2 id="{escape(_anchor(results))}">{escape(results.dataset)}</h2>',
        *(paragraph(each, "lead") for each in conclusions(results, procedure, measure)),
        "<h3>Results</h3>", *_results(results, measure),
        "<h3>Warnings</h3>", warnings(results),
        f"<h3>{label('ndcg')}@n</h3>", charts.curves(results, named, "ndcg", procedure.seed),
    ]  # fmt: skip
    if len(results.algorithms) > 1:
        parts += _against(results, named, procedure, measure)
    drawn = charts.validation(results, named)
    if drawn:
        said = "A line a fold; the dot is what was kept. Nothing is chosen on test queries."
        parts += ["<h3>Validation</h3>", paragraph(said, "note"), drawn]
    parts += [
        "<h3>Chosen settings</h3>",
        folded("Settings of every fold", table(sections.settings_table(results))),
        "<h3>Timings</h3>", folded("Seconds", table(sections.timings_table(results))),
        "<h3>How the numbers are made</h3>", *_conventions(results),
        "<h3>The data</h3>", _data(results),
        "<h3>Provenance</h3>", sections.versions(results),
        folded("Commands to run each algorithm again", sections.commands(results)),
    ]  # fmt: skip
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _results(results: Results, measure: str) -> list[str]:
    """The best algorithm by the measure first; the usual measures, the others unfold."""
    rows = sorted(results.summary.rows, key=lambda row: -row.values[measure])
    summary = replace(results.summary, rows=tuple(rows))
    shown = [name for name in dict.fromkeys([*USUAL, measure]) if name in summary.measures]
    first = table(summary_table(summary, shown))
    said = [first, folded("Every measure", table(summary_table(summary, summary.measures)))]
    if results.relative is not None:
        relative = summary_table(results.relative, results.relative.measures)
        said.append(folded("Shares of the way from random to ideal", table(relative)))
    return said


def _against(
    results: Results, named: Sequence[str], procedure: Procedure, measure: str
) -> list[str]:
    """Every algorithm against the baseline: the tests, and the queries one by one."""
    heading = f"<h3>{escape(label(measure))} against {escape(results.baseline)}</h3>"
    if results.summary.mixed:
        return [heading, paragraph("The algorithms were measured by several conventions, so they "
                                   "are not compared.")]  # fmt: skip
    systems = [algorithm.queries for algorithm in results.algorithms]
    pairs = compare(results.dataset, systems, measure, results.baseline, procedure)
    said = (
        "Effect is Cohen's d_z. In the charts every bar is a query: how much better or worse the "
        "algorithm ranks it than the baseline does."
    )
    return [
        heading, table(comparison_table(pairs, results.summary.conventions[0], procedure)),
        paragraph(said, "note"), charts.differences(results, named, measure),
    ]  # fmt: skip


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
    folds = max((each.queries.folds for each in results.algorithms), key=len)
    sizes = {k: int((folds == k).sum()) for k in sorted(set(folds.tolist()))}
    counts = ", ".join(f"fold {k}: {size:,}" for k, size in sizes.items())
    return facts([*rows, ("test queries", counts)])


def _anchor(results: Results) -> str:
    return "set-" + "".join(c if c.isalnum() else "-" for c in results.dataset.lower())


def _resource(name: str) -> str:
    return (resources.files("letorbench.analysis.report") / name).read_text(encoding="utf-8")
