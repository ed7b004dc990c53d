"""Labels: texts that say what made the numbers of a row.

A label is the name of an algorithm and, in brackets, what differs from its defaults:

    ndcgboost    ndcgboost[rounds=20,stumps=sample]    listnet[select=map,features=zscore]

A name of the user's own may stand before it: ``mine=ndcgboost[rounds=20]``. The row is then called
``mine``. Two configurations never have one label, and a label is what its folder is called.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from letorbench.choices import split
from letorbench.errors import UsageError
from letorbench.files import digest
from letorbench.parameters import text as as_text

#: the keys of a label that are no hyper-parameters: how a run reads, transforms, chooses, measures
RUN_KEYS = ("features", "protocol", "select", "convention", "null", "seed", "budget")
#: from a protocol to the measure that validation chooses by, where the user names none
SELECTED_BY = {"default": "ndcg@10", "letor": "map", "published": "ndcg@10", "tuned": "ndcg@10"}
#: what a row may be called
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*")
#: a label that names its folder as it is; another one's folder has a digest in its name
_PLAIN = re.compile(r"[A-Za-z0-9._+@=,\[\]-]{1,80}")
_FORM = re.compile(r"(?:([^=\[\]]+)=)?([^=\[\]]+)(?:\[(.*)\])?", re.DOTALL)


@dataclass(frozen=True)
class Label:
    """The algorithm and the settings of a row, and its name."""

    algo: str
    #: the settings that are not the defaults: keys and values as texts
    settings: tuple[tuple[str, str], ...] = ()
    #: the user's name for the row; "" where the label itself is its name
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name}={self.configuration}" if self.name else self.configuration

    @property
    def configuration(self) -> str:
        """The label without the user's name."""
        settings = ",".join(f"{key}={value}" for key, value in self.settings)
        return f"{self.algo}[{settings}]" if settings else self.algo

    @property
    def unordered(self) -> frozenset[str]:
        """What the label says, in any case and order of its settings."""
        return frozenset(
            f"{key}={value}".lower() for key, value in (("", self.algo), *self.settings)
        )

    @property
    def row(self) -> str:
        return self.name or self.configuration

    @property
    def folders(self) -> tuple[str, ...]:
        """The names that its folder may have: its own, and one with a digest if that is taken."""
        long = f"{self.name or self.algo}-{digest(self.configuration.encode())[:8]}"
        return (self.row, long) if _PLAIN.fullmatch(self.row) else (long,)


def parse(word: str) -> Label:
    """Read a label; UsageError says what is wrong with it.

    Examples
    --------
    >>> parse("mine=listnet[ select=map, rounds=20]")
    Label(algo='listnet', settings=(('select', 'map'), ('rounds', '20')), name='mine')
    >>> str(parse("listnet[select=map]"))
    'listnet[select=map]'
    """
    match = _FORM.fullmatch(word.strip())
    if match is None:
        raise UsageError(
            f"found {word!r}, expected an algorithm, perhaps with settings and a name: "
            "listnet[select=map], mine=listnet[select=map]"
        )
    name, algo, inside = (part.strip() if part else "" for part in match.groups())
    if name and not NAME.fullmatch(name):
        raise UsageError(
            f"{word!r}: found the name {name!r}, expected letters, digits and . _ + @ -"
        )
    settings: dict[str, str] = {}
    for item in split([inside]):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not (key and equals and value) or key in settings:
            again = f"{key} twice" if key in settings else repr(item)
            raise UsageError(f"{word!r}: found {again}, expected the form key=value")
        settings[key] = value
    return Label(algo, tuple(settings.items()), name)


def expanded(words: Iterable[str], groups: Mapping[str, Sequence[str]]) -> list[Label]:
    """Return the labels of comma lists, each once, in their order.

    A group stands for its members. A list in brackets is several values, each a label of its own;
    a name before it is followed by the value.

    Examples
    --------
    >>> [str(each) for each in expanded(["ndcgboost[rounds=[20,50]],all"], {"all": ["frank"]})]
    ['ndcgboost[rounds=20]', 'ndcgboost[rounds=50]', 'frank']
    """
    labels: dict[Label, None] = {}
    for label in map(parse, split(words)):
        several = [
            split([value[1:-1]]) if re.fullmatch(r"\[.*\]", value, re.DOTALL) else [value]
            for _, value in label.settings
        ]
        for algo, values in product(groups.get(label.algo, [label.algo]), product(*several)):
            settings = tuple(zip((key for key, _ in label.settings), values))
            differ = [value for value, listed in zip(values, several) if len(listed) > 1]
            many = differ + [algo] * (label.algo in groups)
            name = "-".join([label.name, *many]) if label.name else ""
            labels[replace(label, algo=algo, settings=settings, name=name)] = None
    return list(labels)


def configured(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an identity that the user chooses: equal ones may replace each other."""
    if "external" in identity:
        return {"external": identity["algo"]}
    values = identity.get("settings", {})
    settings = {key: values[key] for key in identity.get("fixed", ())}
    run = {key: identity.get(key) for key in RUN_KEYS}
    return {"algo": identity["algo"], "settings": settings, **run}


def of(algo: str, fixed: Mapping[str, Any], run: Mapping[str, Any], name: str = "") -> Label:
    """Return the label of an algorithm with fixed settings and options of its run."""
    texts = {key: as_text(value) for key, value in {**fixed, **run}.items()}
    # the rules of a convention have commas, which would end the item
    texts |= {key: texts[key].replace(",", ";") for key in ("convention",) if key in texts}
    for key, text in texts.items():
        if split([text]) != [text.strip()]:  # no label with it could be read
            raise UsageError(
                f"{algo}: found {key}={text!r}, expected a text, with brackets around commas, as "
                "in (0,1,3)"
            )
    return Label(algo, tuple(texts.items()), "" if name == algo and not texts else name)


def of_stored(fit: Mapping[str, Any], folder: Path) -> Label:
    """Return the label of a fold; a folder that was copied or renamed is called by its name."""
    label = parse(fit.get("label", fit["identity"]["algo"]))
    return label if folder.name in label.folders else replace(label, name=folder.name)
