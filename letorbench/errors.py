"""Errors that a user can cause: one clear line, no traceback."""

from contextlib import suppress

from letorbench.escaping import visible


class LetorError(Exception):
    """Base of all errors that users can correct; `exit_status` is that of the command."""

    exit_status = 1

    def __str__(self) -> str:
        # one line, even if it contains names from files
        return visible(super().__str__())


class DataError(LetorError, ValueError):
    """A file or a folder is not valid: the message names file, line, found and expected."""


class UsageError(LetorError, ValueError):
    """A name, an option or a value that does not exist or does not fit."""

    exit_status = 2


def not_fitted(what: str) -> UsageError:
    """Return the error of a call before `fit`, also scikit-learn's NotFittedError if installed."""
    base: type[Exception] = AttributeError
    with suppress(ImportError):
        from sklearn import exceptions

        base = exceptions.NotFittedError
    return type("NotFittedError", (UsageError, base), {})(
        f"{what} is not fitted yet: call fit first"
    )


class WriteError(DataError, OSError):
    """A file or a folder cannot be written: the message has its name and the reason."""

    def __init__(self, path: object, error: OSError) -> None:
        super().__init__(f"{path}: cannot be written: {error.strerror or error}")
        self.errno, self.strerror, self.filename = error.errno, error.strerror, str(path)

    def __str__(self) -> str:
        return visible(str(self.args[0]))


#: exceptions of users' code: all but Ctrl-C, and `sys.exit`, which must not end a run
FAILURES = (Exception, SystemExit)
