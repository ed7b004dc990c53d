"""The errors a user can cause: one clear line, no traceback."""

from contextlib import suppress

from letorbench.escaping import visible


class LetorError(Exception):
    """Base of every error that is the user's to mend; `exit_status` is the command's.

    Its text is one line, whatever the names in it that come from files.
    """

    exit_status = 1

    def __str__(self) -> str:
        return visible(super().__str__())


class DataError(LetorError, ValueError):
    """A file or a folder is not what it should be: names file, line, found and expected."""


class UsageError(LetorError, ValueError):
    """A name, an option or a value that does not exist or does not fit."""

    exit_status = 2


def not_fitted(what: str) -> UsageError:
    """Return the error of a call before `fit`: scikit-learn's NotFittedError, too, if it is there.

    It is an AttributeError, as scikit-learn's is.
    """
    base: type[Exception] = AttributeError
    with suppress(ImportError):
        from sklearn import exceptions

        base = exceptions.NotFittedError
    return type("NotFittedError", (UsageError, base), {})(
        f"{what} is not fitted yet: call fit first"
    )


class WriteError(DataError, OSError):
    """A file or a folder cannot be written: names it and the reason."""

    def __init__(self, path: object, error: OSError) -> None:
        super().__init__(f"{path}: cannot be written: {error.strerror or error}")
        self.errno, self.strerror, self.filename = error.errno, error.strerror, str(path)

    def __str__(self) -> str:
        return visible(str(self.args[0]))


#: what other people's code may raise: everything but Ctrl-C; `sys.exit` is no reason to end a run
FAILURES = (Exception, SystemExit)
