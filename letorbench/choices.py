"""Names as users write them: comma lists, groups of names, and hints for misspelled names."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from letorbench import aliases
from letorbench.errors import UsageError

#: with more choices, an error lists only the nearest ones
MOST_LISTED = 25


def require_choice(name: str, choices: Sequence[str], what: str) -> str:
    """Return the name, or the choice that it means in another tool; else UsageError with hints."""
    if name in choices:
        return name
    if known := aliases.named(name, choices, what):
        return known
    lower: dict[str, list[str]] = {}
    for choice in dict.fromkeys(choices):
        lower.setdefault(choice.lower(), []).append(choice)
    near = [each for text in difflib.get_close_matches(name.lower(), lower) for each in lower[text]]
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    listed = f"expected one of {', '.join(dict.fromkeys(choices))}"
    if near and len(choices) > MOST_LISTED:
        listed = f"expected one of {len(choices)}"
    raise UsageError(f"unknown {what} {name!r}; {hint}{listed}")


def resolve_name(name: str, choices: Sequence[str], what: str) -> str:
    """Return the choice that equals the name in any case; UsageError as in `require_choice`."""
    same = [choice for choice in dict.fromkeys(choices) if choice.lower() == name.lower()]
    return same[0] if len(same) == 1 else require_choice(name, choices, what)


def split(words: Iterable[str]) -> list[str]:
    """Return the words of comma lists without surrounding blanks; brackets keep a word together.

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
