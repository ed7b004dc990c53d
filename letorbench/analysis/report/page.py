"""The report: one page with a section a data set, with its style and its script inside.

A section opens with its conclusions and its results. What only some readers want, such as
warnings and settings, unfolds with a click.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from letorbench.analysis.comparison import (
    Pair,
    Procedure,
    comparison_table,
    power_table,
    query_tables,
)
from letorbench.analysis.explanation import WHY_QUERIES, Learned, learning_table, why
from letorbench.analysis.report import charts
from letorbench.analysis.report.charts import folded
from letorbench.analysis.report.conclusions import conclusions, family
from letorbench.analysis.results_table import USUAL, best_first, comparable, label, summary_table
from letorbench.analysis.tables import Table, columns, render, table
from letorbench.conventions import convention
from letorbench.datasets.catalog import describe, parse
from letorbench.escaping import html as escape
from letorbench.results.frame import Frame
from letorbench.results.store import fit_warnings
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.version import __version__

COMMON = (
    "A query without a relevant document counts 0 and stays in the mean. Equal scores rank in "
    "file order. The results table has the mean of the folds' means; intervals, differences and "
    "tests are of the pooled test queries of all folds. An algorithm that draws random numbers is "
    "run with several seeds: its numbers are means over them, ± is their standard deviation, and "
    "intervals and tests count queries and seeds. Every interval is a 95 % one by itself; adjusted "
    "p-values are corrected for all comparisons of the data set here. Validation curves, settings "
    "and warnings are of the first seed."
)


def page(
    frames: Sequence[Frame], baseline: str | None, procedure: Procedure, measure: str,
    words: str,
) -> str:  # fmt: skip
    """The HTML of data sets whose algorithms are compared by the measure.

    baseline: what differences are taken from; the best algorithm of each data set by default.
    words: the command line that made the report.
    """
    names = ", ".join(frame.dataset for frame in frames)
    sections = {each.dataset: _section(each, baseline, procedure, measure) for each in frames}
    made = f"made by <code>{escape(words)}</code>"
    return document(f"letorbench report: {names}", f"Learning to rank: {names}", made, sections)


def document(title: str, heading: str, made: str, sections: Mapping[str, str]) -> str:
    """A whole page that needs no other file: a section a data set, its style and its script.

    made: HTML that says where the page comes from.
    """
    files = resources.files("letorbench.analysis.report")
    style, script = ((files / name).read_text("utf-8") for name in ("report.css", "report.js"))
    links = "".join(
        f'<li><a href="#{escape(_anchor(name))}">{escape(name)}</a></li>' for name in sections
    )
    parts = "\n".join(
        f'<section>\n<h2 id="{escape(_anchor(name))}">{escape(name)}</h2>\n{section}\n</section>'
        for name, section in sections.items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header>
<h1>{escape(heading)}</h1>
<p class="note">letorbench {__version__}; {made}</p>
<nav aria-label="Data sets"><ul>{links}</ul></nav>
</header>
<main id="main">
{parts}
</main>
<p id="said" class="skip" role="status" aria-live="polite"></p>
<script>
{script}</script>
</body>
</html>
"""


def _section(frame: Frame, baseline: str | None, procedure: Procedure, measure: str) -> str:
    if baseline is None:
        baseline = best_first(comparable(frame) or frame.rows, measure)[0].algo
    first = charts.named(frame, baseline, measure)
    pairs = family(frame, [baseline], procedure, measure)
    lead = conclusions(frame, pairs, baseline, procedure, measure)
    parts = [
        *(paragraph(each, "lead") for each in lead),
        "<h3>Results</h3>", *_results(frame, measure),
        "<h3>Warnings</h3>", _warnings(frame),
        f"<h3>{label('ndcg')}@n</h3>", charts.curves(frame, baseline, "ndcg"),
    ]  # fmt: skip
    if len(frame.rows) > 1:
        own = [pair for pair in pairs if pair.b == baseline]
        parts += _against(frame, own, baseline, first, procedure, measure)
    drawn = charts.validation(frame, first)
    if drawn:
        note = "A line a fold; the dot is what was kept. Nothing is chosen on test queries."
        parts += ["<h3>Validation</h3>", paragraph(note, "note"), drawn]
    if any(map(Learned.of, frame.rows)):
        learned = render(learning_table(frame), "html")
        parts += ["<h3>Training, validation and test</h3>", learned]
    parts += [
        "<h3>Chosen settings</h3>",
        folded("Settings of every fold", render(_settings(frame), "html")),
        "<h3>Timings</h3>", folded("Seconds", render(_timings(frame), "html")),
        "<h3>How the numbers are made</h3>",
        *(
            paragraph(f"Measures {rules.description} [{rules.name}]. {rules.rules}")
            for rules in map(convention, frame.conventions)
        ),
        paragraph(COMMON),
        "<h3>The data</h3>", _data(frame),
        "<h3>Provenance</h3>", _versions(frame),
    ]  # fmt: skip
    return "\n".join(parts)


def _results(frame: Frame, measure: str) -> list[str]:
    """The best algorithm by the measure first; the usual measures, the others unfold."""
    rows = best_first(frame.rows, measure)
    frame = replace(frame, rows=tuple(rows))
    shown = [name for name in dict.fromkeys([*USUAL, measure]) if name in frame.measures]
    every = render(summary_table(frame, frame.measures), "html")
    return [render(summary_table(frame, shown), "html"), folded("Every measure", every)]


def _against(
    frame: Frame, pairs: Sequence[Pair], baseline: str, first: Sequence[str],
    procedure: Procedure, measure: str,
) -> list[str]:  # fmt: skip
    """Every algorithm against the baseline: the tests, and the queries one by one."""
    heading = f"<h3>{escape(label(measure))} against {escape(baseline)}</h3>"
    if frame.mixed:
        return [heading, paragraph("The algorithms were measured by several conventions, so they "
                                   "are not compared.")]  # fmt: skip
    table = comparison_table(pairs, procedure, frame.conventions[0])
    power = power_table(pairs, frame.conventions[0])
    note = (
        "Effect is Cohen's d_z. In the charts every bar is a query: how much better or worse the "
        "algorithm ranks it than the baseline does."
    )
    return [
        heading,
        render(table, "html"),
        folded("How many queries would settle it", render(power, "html")),
        *(
            _reasons(frame, pair, procedure)
            for pair in pairs
            if pair.a in first and pair.lead.units
        ),
        paragraph(note, "note"),
        charts.gains(frame, baseline, first, measure),
    ]


def _reasons(frame: Frame, pair: Pair, procedure: Procedure) -> str:
    """Why one of two is below the other, and on which queries most; a click shows it."""
    reasons = "".join(f"<li>{escape(text)}</li>" for text in why(frame, pair, procedure))
    both = [row.queries for row in frame.rows if row.algo in (pair.a, pair.b)]
    most = query_tables(frame.dataset, both, pair.measure, pair.b, WHY_QUERIES, {})
    tables = "".join(render(each, "html") for each in most)
    return folded(f"Why do {pair.a} and {pair.b} differ?", f"<ul>{reasons}</ul>\n{tables}")


def _warnings(frame: Frame) -> str:
    """How many warnings training gave; a row each unfolds, the most serious first."""
    folds: dict[tuple[str, FitWarning], list[int]] = {}
    for row in frame.rows:
        for fold, fit in row.fits.items():
            for warning in fit_warnings(fit):
                folds.setdefault((row.algo, warning), []).append(fold)
    if not folds:
        return paragraph("None.")
    rows = [
        (name, warning.kind, ", ".join(map(str, numbers)), warning.text)
        for (name, warning), numbers in sorted(folds.items(), key=lambda each: each[0][1].rank)
    ]
    count, names = sum(map(len, folds.values())), {name for name, _ in folds}
    title = (
        f"{count} warning{'s' * (count > 1)} from {len(names)} of {len(frame.rows)} "
        "algorithms, the most serious first"
    )
    heads = columns(["algorithm", "kind", "folds", "text"])
    return folded(title, render(table("What training warned of", heads, rows), "html"))


def _settings(frame: Frame) -> Table:
    """What validation chose in every fold."""
    rows = []
    for row in frame.rows:
        for fold, fit in row.fits.items():
            validation = fit.get("validation", {})
            best, value = validation.get("best"), validation.get("value")
            rows.append((row.algo, _chosen(fit), fold, best, value))
    measure = next(iter(_identities(frame, "select")), "measure")
    heads = {"fold": "", "rounds or epochs": "", f"validation {label(measure)}": ".4f"}
    caption = "Chosen on the validation part of each fold"
    return table(caption, columns(["algorithm", "settings"], heads), rows)


def _chosen(fit: Mapping[str, Any]) -> str:
    """The settings that were chosen from a grid; all settings where there was no grid."""
    chosen, grid = fit.get("chosen", {}), fit.get("identity", {}).get("grid", {})
    names = [name for name in chosen if name in grid] or list(chosen)
    return ", ".join(f"{name} = {as_text(chosen[name])}" for name in names)


def as_text(value: Any) -> str:
    """A setting as `--set` takes it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(as_text, value))
    return "none" if value is None else str(value)


def _timings(frame: Frame) -> Table:
    """Seconds of all folds, selection included."""
    rows = []
    for each in frame.rows:
        grids = [fit.get("validation", {}).get("grid", []) for fit in each.fits.values()]
        trained = sum(max(1, len(grid)) for grid in grids)
        seconds = sum(fit.get("seconds") or 0.0 for fit in each.fits.values())
        rows.append((each.algo, seconds, seconds / len(each.fits), trained))
    heads = columns(
        ["algorithm"], {"seconds": ".2f", "seconds a fold": ".2f", "models trained": ""}
    )
    return table("Training, selection and scoring of all folds", heads, rows)


def _data(frame: Frame) -> str:
    """What the catalog knows of the data set, and the test queries of each fold."""
    entry = parse(frame.dataset).entry
    rows = list(describe(entry)) if entry else [("name", f"{frame.dataset}, a folder of yours")]
    folds = max((each.queries.folds for each in frame.rows), key=len)
    sizes = {k: int((folds == k).sum()) for k in sorted(set(folds.tolist()))}
    counts = ", ".join(f"fold {k}: {size:,}" for k, size in sizes.items())
    return facts([*rows, ("test queries", counts)])


def _versions(frame: Frame) -> str:
    """Where the numbers come from: versions, the digest of the data, seeds."""
    versions: dict[str, set[str]] = {}
    for row in frame.rows:
        for fit in row.fits.values():
            for name, version in fit.get("versions", {}).items():
                versions.setdefault(name, set()).add(str(version))
    rows = [(name, ", ".join(sorted(each))) for name, each in versions.items()]
    rows.append(("data (blake2b of the files)", ", ".join(sorted(_identities(frame, "data")))))
    return facts([*rows, ("seed", ", ".join(sorted(_identities(frame, "seed"))) or "none")])


def _identities(frame: Frame, key: str) -> list[str]:
    """What the identities of the algorithms say of a key, each once."""
    said = (row.stored[0].identity.get(key) for row in frame.rows)
    return list(dict.fromkeys(str(value) for value in said if value is not None))


def _anchor(dataset: str) -> str:
    return "set-" + "".join(c if c.isalnum() else "-" for c in dataset.lower())


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
