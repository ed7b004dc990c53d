"""Names as users write them: comma lists, and the nearest name where one is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from letorbench.errors import UsageError


def known(name: str, choices: Sequence[str], what: str) -> str:
    """The name itself where it is among the choices; UsageError suggests the nearest."""
    if name in choices:
        return name
    near = difflib.get_close_matches(name.lower(), [choice.lower() for choice in choices], 1)
    hint = next((f"did you mean {c}? " for c in choices if near and c.lower() == near[0]), "")
    listed = ", ".join(dict.fromkeys(choices))
    raise UsageError(f"unknown {what} {name!r}; {hint}expected one of {listed}")


def split(words: Iterable[str]) -> list[str]:
    """The words of comma lists, blanks around them dropped."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def expanded(words: Iterable[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of comma lists, a group's name replaced by its members, each once, in order."""
    return list(dict.fromkeys(name for word in split(words) for name in groups.get(word, [word])))
