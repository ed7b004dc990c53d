"""Names as users write them: comma lists, groups of names, and a hint for a misspelled name."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from letorbench.errors import UsageError


def require_choice(name: str, choices: Sequence[str], what: str) -> str:
    """Return the name if it is one of the choices, which are of the kind `what`.

    UsageError lists the choices and suggests the nearest one.

    Examples
    --------
    >>> require_choice("listnet", ["listnet", "ranknet"], "loss")
    'listnet'
    """
    if name in choices:
        return name
    near = difflib.get_close_matches(name.lower(), [choice.lower() for choice in choices], 1)
    hint = next((f"did you mean {c}? " for c in choices if near and c.lower() == near[0]), "")
    listed = ", ".join(dict.fromkeys(choices))
    raise UsageError(f"unknown {what} {name!r}; {hint}expected one of {listed}")


def split(words: Iterable[str]) -> list[str]:
    """Return the words of comma lists without the blanks around them.

    A comma between brackets ends no word.

    Examples
    --------
    >>> split(["wub, pairwise(phi=hinge, weight=1/m)", "wpl"])
    ['wub', 'pairwise(phi=hinge, weight=1/m)', 'wpl']
    """
    parts = []
    for word in words:
        depth, start = 0, 0
        for end, character in enumerate([*word, ","]):
            depth += (character in "([") - (character in ")]")
            if character == "," and (depth == 0 or end == len(word)):
                parts.append(word[start:end].strip())
                start = end + 1
    return [part for part in parts if part]


def expanded(words: Iterable[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of comma lists in order, each once, with groups replaced by members."""
    return list(dict.fromkeys(name for word in split(words) for name in groups.get(word, [word])))
