"""The version of the package."""

__version__ = "0.1.0"
#: of this version, in citations
YEAR = 2026
