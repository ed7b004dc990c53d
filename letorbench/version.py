"""The version of the package, and how it is cited."""

__version__ = "1.0.0"
#: of this version, in citations
YEAR = 2026


def bibtex() -> str:
    """Return the BibTeX entry of the package, in one line, by its installed facts."""
    from importlib.metadata import metadata

    facts = metadata("letorbench")
    return (
        f"@misc{{letorbench, author = {{{{{facts['Author']}}}}}, title = {{{{letorbench: "
        f"{facts['Summary']}}}}}, year = {{{YEAR}}}, note = {{version {__version__}}}}}"
    )
