"""What made a run, in the schema `ir_metadata` (https://www.ir-metadata.org), version 0.1.

The schema puts it at the head of the run, in lines that begin with #. pytrec_eval, ir_measures and
ranx refuse such lines, and so does trec_eval, which took them for a while. So it is a file of its
own beside the run. What only the user knows is left empty: the research goal and the actor.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from letorbench.conventions import RULES, convention
from letorbench.datasets.catalog import CATALOG
from letorbench.results.store import StoredFold

SCHEMA = 0.1
PARTS = ("training", "validation")
#: the facts of a machine that are of its processor, and of its system
CPU, SYSTEM = ("model", "architecture", "cores"), ("kernel", "distribution")


def ir_metadata(fold: StoredFold, qrels: str) -> str:
    """Return what made the run of a fold, as YAML; `qrels` is the file of its labels."""
    key, fit, identity = fold.key, fold.fit, fold.identity
    trained = "external" not in identity
    source = _known({"source": CATALOG[key.dataset].page if key.dataset in CATALOG else ""})
    test = {"name": key.dataset, **source, "qrels": qrels, "fold": key.fold}
    learned_from = [
        {"name": f"{key.dataset}, {p} part of fold {key.fold}", **source} for p in PARTS
    ]
    method = {"name": key.algo, "method": identity.get("module"), "params": fit["chosen"]}
    method |= {"seed": identity.get("seed")}
    facts = {
        "schema-version": SCHEMA,
        "run-version": 1.0,
        "tag": key.algo,
        "platform": _platform(fit) if trained else {},
        "research goal": {},
        "implementation": {"source": {"lang": ["python"]}} if trained else {},
        "method": {
            **({"automatic": True} if trained else {}),
            "score ties": RULES["ties"][convention(fold.convention).ties],
            "retrieval": [_known(method)],
        },
        "actor": {},
        "data": {
            "test collection": _known({**test, "digest": identity.get("data")}),
            **({"training data": learned_from} if trained else {}),
        },
    }
    return "".join(f"{line}\n" for line in _yaml(facts))


def _platform(fit: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the scores were made; before 1.0 a fold did not have its machine."""
    versions, machine = dict(fit["versions"]), fit.get("machine") or {}
    toolkit = f"letorbench=={versions.pop('letorbench', '')}"
    cpu = {"number of cores" if name == "cores" else name: machine.get(name) for name in CPU}
    system = {name: machine.get(name) for name in SYSTEM}
    hardware = {"cpu": _known(cpu), "ram": machine.get("ram")}
    libraries = {"python": [f"{name}=={version}" for name, version in versions.items()]}
    return _known({
        "hardware": _known(hardware),
        "operating system": _known(system),
        "software": {"libraries": libraries, "retrieval toolkit": [toolkit]},
    })  # fmt: skip


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, "", {})}


def _yaml(facts: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the lines of a mapping as YAML, of which the values of JSON are a part."""
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield f"{before}{name}:"
            yield from _yaml(value, f"{before}  ")
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield f"{before}{name}:"
            for each in value:
                first, *others = _yaml(each, f"{before}  ")
                yield f"{before}- {first.strip()}"
                yield from others
        else:
            yield f"{before}{name}: {json.dumps(value)}"
