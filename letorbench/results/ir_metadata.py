"""What made a run, in the schema `ir_metadata` (https://www.ir-metadata.org), version 0.1.

The schema has it at the head of the run, in lines with #, which pytrec_eval, ir_measures, ranx and
trec_eval refuse. So it is a file beside the run. Goal and actor, which users know, stay empty.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from letorbench.conventions import RULES, convention
from letorbench.datasets.catalog import CATALOG
from letorbench.results.store import StoredFold


def ir_metadata(fold: StoredFold, qrels: str) -> str:
    """Return what made the run of a fold, as YAML; `qrels` is the file of its labels."""
    key, fit, identity = fold.key, fold.fit, fold.identity
    source = CATALOG[key.dataset].page if key.dataset in CATALOG else None
    facts: dict[str, Any] = {"schema-version": 0.1, "run-version": 1.0, "tag": key.algo}
    facts |= dict.fromkeys(("platform", "research goal", "implementation"), {})
    retrieval: dict[str, Any] = {"name": key.algo}
    facts["method"] = {"score ties": RULES["ties"][convention(fold.convention).ties]}
    facts |= {"actor": {}, "data": {"test collection": {
        "name": key.dataset, "source": source, "qrels": qrels, "fold": key.fold,
        "digest": identity.get("data"),
    }}}  # fmt: skip
    if "external" not in identity:  # of another system's training nothing is known
        python = [f"{name}=={version}" for name, version in fit["versions"].items()]
        toolkit = [each for each in python if each.startswith("letorbench==")]
        software = {"libraries": {"python": python}, "retrieval toolkit": toolkit}
        facts["platform"] = {**(fit.get("machine") or {}), "software": software}
        facts["implementation"] = {"source": {"lang": ["python"]}}
        facts["method"]["automatic"] = True
        module, seed = identity.get("module"), identity.get("seed")
        retrieval |= {"method": module, "params": fit["chosen"], "seed": seed}
        facts["data"]["training data"] = [
            {"name": f"{key.dataset}, {part} part of fold {key.fold}", "source": source}
            for part in ("training", "validation")
        ]
    facts["method"]["retrieval"] = [retrieval]
    return "".join(f"{line}\n" for line in _yaml(facts))


def _yaml(facts: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the lines of what is known of facts as YAML, of which the values of JSON are a part."""
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield f"{before}{name}:"
            yield from _yaml(value, f"{before}  ")
        elif name in ("retrieval", "training data"):
            yield f"{before}{name}:"
            for each in value:
                first, *others = _yaml(each, f"{before}  ")
                yield f"{before}- {first.strip()}"
                yield from others
        elif value not in (None, ""):
            yield f"{before}{name}: {json.dumps(value)}"
