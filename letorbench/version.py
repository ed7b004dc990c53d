"""The version of the package, and how it is cited."""

from collections.abc import Mapping
from typing import Any

from letorbench.errors import UsageError

__version__ = "1.1.0"
#: of this version, in citations
YEAR = 2026


def require_format(facts: Mapping[str, Any], known: int, path: object) -> None:
    """Raise UsageError if the facts of a file name a format that only later versions know."""
    written = facts.get("format", known)
    if isinstance(written, int) and written > known:
        by = facts["versions"].get("letorbench") if isinstance(facts.get("versions"), dict) else "?"
        raise UsageError(
            f"{path}: found format {written}, which letorbench {by} wrote, expected {known} at "
            f"most: letorbench {__version__} is too old to read it"
        )


def bibtex() -> str:
    """Return the BibTeX entry of the package, in one line, by its installed facts."""
    from importlib.metadata import metadata

    facts = metadata("letorbench")
    return (
        f"@misc{{letorbench, author = {{{{{facts['Author']}}}}}, title = {{{{letorbench: "
        f"{facts['Summary']}}}}}, year = {{{YEAR}}}, note = {{version {__version__}}}}}"
    )
