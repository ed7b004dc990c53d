"""Figure 1 of the LambdaRank paper: how long V1 and V2 take, against documents and for an NDCG."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, replace

import numpy as np

from letorbench.analysis.tables import write_table
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cubic
from letorbench.losses.base import LONGEST_COMPARED
from letorbench.papers import speed
from letorbench.papers.kept import read_kept_json, write_kept_json
from letorbench.papers.paper import Found
from letorbench.papers.runs import Measured, Study, exactly

NAME = "lambdarank-2006"
PART = "figure-1"
#: documents of the query in the right panel, as many as RankNet takes; the paper's are 4,000 to
#: 512,000
SIZES = tuple(500 * 2**i for i in range(11) if 500 * 2**i <= LONGEST_COMPARED)
#: an epoch that would take more seconds is not timed; and with --full
PATIENCE, FULL_PATIENCE = 8.0, 600.0
NETS = {1: "linear", 2: "two-layer"}
#: the net of the right panel, whose slopes the text gives
SLOPES_OF = 2
#: queries, documents of each, features, and how many of these the labels depend on: section 6.1
QUERIES, LENGTHS, FEATURES, RELEVANT = 1_000, (20, 32), 367, 50
#: a rate at which the epochs before the best one can be told apart
RATE = 1e-5


def web_shaped(seed: int, n: int = QUERIES) -> tuple[QuerySet, QuerySet]:
    """A training and a validation set of the shape of section 6.1's web data.

    n queries each, of 26.1 documents in the mean and 367 features, of which 50 matter.
    """
    rng = np.random.default_rng(seed)

    def widened(queries: QuerySet) -> QuerySet:
        others = rng.standard_normal((queries.n_docs, FEATURES - RELEVANT), np.float32)
        return replace(queries, features=np.column_stack([queries.features, others]))

    train, validation = map(widened, cubic(rng, [n, n], RELEVANT, LENGTHS))
    return train, validation


def timing(study: Study) -> Found:
    """Figure 1: NDCG against seconds, seconds against documents; the ratios of section 6.1."""
    stem = study.folder(NAME) / PART
    patience = FULL_PATIENCE if study.full else PATIENCE
    made = _measured(study, patience)
    timings = [speed.Timing(**each) for each in made["timings"]]
    lessons = {each["version"]: speed.Lesson(**each) for each in made["lessons"]}
    slopes, rows = {}, []
    for version, layers in [(v, depth) for v in speed.PASSES for depth in NETS]:
        own = [t for t in timings if (t.version, t.layers) == (version, layers)]
        slopes[version, layers] = speed.slope(own)
        rows += [[version, NETS[layers], t.documents, t.seconds] for t in own]
    last = {v: max(t.documents for t in timings if t.version == v) for v in speed.PASSES}
    files = [
        *_drawn(timings, lessons, slopes, stem),
        *write_table(stem, "Figure 1", ["version", "net", "documents", "seconds"], rows),
        *_write_ratios(study, made),
    ]
    found = _speeds(made) | _lessons_alike(lessons)
    for version in ("V1", "V2"):
        both = slopes[version, 1], slopes["ours", SLOPES_OF]
        note = f"linear: {both[0].value:.3f}; {SIZES[0]:,} to {last[version]:,} documents"
        if version == "V2":
            note += (
                f"; with one exponential a document {both[1].value:.3f} to {last['ours']:,}: V2 "
                "as the text describes it keeps the sum over pairs, which grows quadratically"
            )
        value, low, high = astuple(slopes[version, SLOPES_OF])
        found[f"slope-{version.lower()}"] = Measured(value, low, high, note)
    differs = (
        "timings are this machine's; the data have the web set's shape, all made up",
        f"documents from {SIZES[0]:,}, V1 to {last['V1']:,} and V2 to {last['V2']:,}, where an "
        f"epoch would take more than {patience:g} s; longer queries than {LONGEST_COMPARED:,} are "
        "refused; the paper's are 4,000 to 512,000",
    )
    return Found(numbers=found, files=tuple(files), differs=differs)


def _speeds(made: Mapping[str, dict]) -> dict[str, Measured]:
    """V1's seconds over V2's for each net, with ours and the pairs a document in the note."""
    found = {}
    for layers, net in NETS.items():
        of = made["ratios"][str(layers)]
        note = (
            f"median, least and most of {len(of['V2'])}; V1 over ours "
            f"{np.median(of['ours']):.1f}; {made['pairs']:.1f} pairs a document"
        )
        found[f"speed-{net}"] = Measured(
            float(np.median(of["V2"])), min(of["V2"]), max(of["V2"]), note
        )
    return found


def _lessons_alike(lessons: Mapping[str, speed.Lesson]) -> dict[str, Measured]:
    """V1 with a step a query against V1 with a step a pair."""
    query, pair = lessons["pairwise"], lessons["online"]
    apart = np.abs(np.array(query.ndcg) / np.array(pair.ndcg) - 1.0)
    note = f"after {len(apart)} epochs {query.ndcg[-1]:.4f} and {pair.ndcg[-1]:.4f}"
    return {
        "batch-converges": exactly(float(apart.max()), note),
        "batch-time": exactly(pair.seconds[-1] / query.seconds[-1]),
    }


def _drawn(
    timings: list[speed.Timing],
    lessons: Mapping[str, speed.Lesson],
    slopes: Mapping[tuple[str, int], speed.Slope],
    stem: object,
) -> list:
    from letorbench.analysis.line_figures import Axis, Line, lines_figure

    names = {passes: version for version, passes in speed.PASSES.items()}
    left = {
        names[passes]: Line(each.seconds, each.ndcg)
        for passes, each in lessons.items()
        if passes in names
    }
    right = {}
    for (version, layers), slope in slopes.items():
        if layers == SLOPES_OF:
            own = [t for t in timings if (t.version, t.layers) == (version, layers)]
            label = f"{version}, slope {slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]"
            right[label] = Line([t.documents for t in own], [t.seconds for t in own])
    return lines_figure(
        [
            Axis("linear nets, an epoch a point", "seconds", "highest validation NDCG@10", left,
                 log_x=True),
            Axis(f"{NETS[SLOPES_OF]} nets", "documents of the query", "seconds an epoch", right,
                 log=True),
        ],
        stem,
    )  # fmt: skip


def _write_ratios(study: Study, made: Mapping[str, dict]) -> tuple:
    rows = [
        [NETS[int(layers)], version, made["pairs"], float(np.median(each)), min(each), max(each)]
        for layers, versions in made["ratios"].items()
        for version, each in versions.items()
    ]
    header = ["net", "V1 over", "pairs a document", "median", "least", "most"]
    title = "Section 6.1: V1's seconds an epoch over another version's"
    return write_table(study.folder(NAME) / "ratios", title, header, rows)


def _measured(study: Study, patience: float) -> dict:
    """Timings, ratios and lessons, measured once and kept in figure-1.json."""
    path = study.folder(NAME) / f"{PART}.json"
    asked = {"sizes": list(SIZES), "patience": patience, "seed": study.seed,
             "versions": dict(speed.PASSES), "epochs": speed.EPOCHS, "rate": RATE}  # fmt: skip
    stored = read_kept_json(path)
    if stored.get("asked") == asked:
        return stored
    study.say("timing V1 and V2")
    train, validation = web_shaped(study.seed)
    speed.warm_up()
    timings = speed.growing(SIZES, tuple(NETS), patience)
    ways = (*speed.PASSES.values(), "online")
    made = {
        "asked": asked,
        "timings": [asdict(t) for t in timings],
        "pairs": speed.pairs_per_document(train),
        "ratios": {str(layers): speed.ratios(train, layers) for layers in NETS},
        "lessons": [asdict(speed.lesson(train, validation, way, RATE)) for way in ways],
    }
    write_kept_json(path, made)
    return json.loads(json.dumps(made))
