"""The errors a user can cause: one clear line, no traceback."""

from __future__ import annotations


class LetorError(Exception):
    """Base of every error that is the user's to mend; `exit_status` is the command's."""

    exit_status = 1


class DataError(LetorError, ValueError):
    """A file or a folder is not what it should be: names file, line, found and expected."""


class UsageError(LetorError, ValueError):
    """A name, an option or a value that does not exist or does not fit."""

    exit_status = 2
