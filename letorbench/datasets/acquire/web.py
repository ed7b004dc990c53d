"""One request to an address on the web: only http and https, and never longer than it may take."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from letorbench.errors import DataError
from letorbench.escaping import visible

MOST_REDIRECTS = 10
_WEB = ("http", "https")
_REDIRECTS = (301, 302, 303, 307, 308)
_HINTS = {
    401: "it asks for a sign-in",
    403: "it refuses, or asks for a sign-in or a licence to be accepted",
    404: "it is gone",
    407: "the proxy asks for a sign-in",
    410: "it is gone",
    429: "it is asked too often; try again later",
}


class Interrupted(DataError):
    """A download that stopped before its end; what there is of it may be continued."""


class Refused(DataError):
    """An address that answers with an HTTP error."""

    def __init__(self, url: str, code: int) -> None:
        super().__init__(f"{printable(url)}: {_refusal(code)}")
        self.code = code


@dataclass(frozen=True)
class Patience:
    """How long an address is waited for.

    Parameters
    ----------
    stall : float
        The seconds without a byte after which an address is given up.
    slowest : float
        The fewest bytes a second, counted over `stall` seconds.
    total : float
        The seconds that an address has for the whole download.
    attempts : int
        How often a download that stops is continued.
    pause : float
        The seconds before the first of these; before each other one, twice those before.
    """

    stall: float = 60.0
    slowest: float = 1000.0
    total: float = 6 * 3600.0
    attempts: int = 5
    pause: float = 1.0


class Answer:
    """What an address answered: its status, its headers, and its bytes as they come."""

    def __init__(self, response: http.client.HTTPResponse, watch: _Watch) -> None:
        self._response = response
        self._watch = watch
        self.status = response.status

    @property
    def etag(self) -> str:
        """The strong validator of the content; empty where there is none."""
        etag = self._header("ETag")
        return "" if etag.startswith("W/") else etag

    @property
    def modified(self) -> str:
        return self._header("Last-Modified")

    @property
    def is_page(self) -> bool:
        """Whether it says that it is a page for people."""
        return self._header("Content-Type").lower().startswith("text/html")

    @property
    def encoding(self) -> str:
        return self._header("Content-Encoding").lower().replace("identity", "")

    @property
    def length(self) -> int | None:
        """How many bytes are said to follow."""
        return _whole_number(self._header("Content-Length"))

    @property
    def span(self) -> tuple[int, int | None] | None:
        """The first byte of a part, and the size of the whole where it is said."""
        found = re.fullmatch(r"bytes ([0-9]+)-[0-9]+/([0-9]+|\*)", self._header("Content-Range"))
        if found is None or _whole_number(found[1]) is None:
            return None
        return int(found[1]), _whole_number(found[2])

    def read(self) -> bytes:
        """Return the bytes that are there, at least one before the end."""
        block = self._response.read1(1 << 18)
        if not block and self._watch.expired:  # a connection that is cut looks like its end
            raise TimeoutError
        return block

    def _header(self, name: str) -> str:
        return (self._response.headers.get(name) or "").strip()


@contextmanager
def asked(url: str, headers: Mapping[str, str], stall: float, left: float) -> Iterator[Answer]:
    """Open an address for the block; the connection is cut when the seconds left are over.

    Raises
    ------
    DataError
        The address is none of the web or leads to one that is not.
    Refused
        It answers with an HTTP error.
    Interrupted
        The connection failed or broke, stalled, or took too long.
    """
    from letorbench import __version__

    watch = _Watch(left)
    require_web(url)
    headers = {"User-Agent": f"letorbench/{__version__}", "Accept-Encoding": "identity", **headers}
    try:
        with watch, _opener(watch).open(_request(url, headers), timeout=stall) as response:
            yield Answer(response, watch)
    except urllib.error.HTTPError as error:
        error.close()
        raise Refused(url, error.code) from None
    except DataError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Interrupted(f"{printable(url)}: {_broken(error, watch, stall)}") from None


def require_web(url: str, before: str | None = None) -> None:
    """Raise DataError unless the address is http or https, and not http after https."""
    try:
        scheme = urlsplit(url).scheme.lower()
        named = bool(urlsplit(url).hostname)
    except ValueError:
        scheme, named = "", False
    start = printable(url if before is None else before)
    leads = "" if before is None else f" leads to {printable(url)}, which"
    if scheme not in _WEB or not named:
        raise DataError(f"{start}:{leads} is no address on the web; expected http or https")
    if before is not None and urlsplit(before).scheme.lower() == "https" and scheme == "http":
        raise DataError(f"{start}:{leads} is not encrypted; expected https after https")


def printable(text: str) -> str:
    """Return a text that came from elsewhere as a terminal may show it, at most 200 characters."""
    shown = visible(text)
    return shown if len(shown) <= 200 else f"{shown[:200]}..."


def _request(url: str, headers: Mapping[str, str]) -> urllib.request.Request:
    try:
        return urllib.request.Request(url, headers=dict(headers))
    except ValueError as error:
        raise DataError(f"{printable(url)}: {printable(str(error))}") from None


def _opener(watch: _Watch) -> urllib.request.OpenerDirector:
    """Return an opener without the handlers of files, FTP and data addresses."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
        _Http(watch),
        _Https(watch),
    ):
        opener.add_handler(handler)
    return opener


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = MOST_REDIRECTS

    def http_error_302(
        self, req: urllib.request.Request, fp: object, code: int, msg: str, headers: Mapping
    ) -> object:
        target = headers.get("location") or headers.get("uri")
        if target is not None:
            try:
                url = urljoin(req.full_url, target)
            except ValueError:
                url = target
            require_web(url, before=req.full_url)
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Watch:
    """Cuts the connections that it was told of when the time is over, whatever they wait for."""

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(max(seconds, 0.001), self._expire)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def add(self, opened: socket.socket) -> None:
        self._sockets.append(opened)
        if self.expired:
            self._expire()

    def _expire(self) -> None:
        self.expired = True
        for each in list(self._sockets):
            with suppress(OSError):
                # not SSLSocket's own, which another thread must not call
                socket.socket.shutdown(each, socket.SHUT_RDWR)


class _Watched:
    """What the two handlers share: their connections are told to the watch."""

    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def do_open(self, http_class: type, req: urllib.request.Request, **more: object) -> object:
        watch = self._watch

        class Connection(http_class):
            def connect(self) -> None:
                super().connect()
                watch.add(self.sock)

        return super().do_open(Connection, req, **more)


class _Http(_Watched, urllib.request.HTTPHandler):
    pass


class _Https(_Watched, urllib.request.HTTPSHandler):
    pass


def _refusal(code: int) -> str:
    if code in _REDIRECTS:
        return f"is redirected without an end, or more than {MOST_REDIRECTS} times (HTTP {code})"
    known = code in set(HTTPStatus)
    hint = _HINTS.get(code, HTTPStatus(code).phrase if known else "")
    return f"answers HTTP {code}{f', {hint}' if hint else ''}"


def _broken(error: Exception, watch: _Watch, stall: float) -> str:
    reason = getattr(error, "reason", error)
    if watch.expired:
        return "took longer than the time limit"
    if isinstance(reason, TimeoutError):
        return f"sent nothing for {stall:g} seconds"
    if isinstance(reason, http.client.IncompleteRead):
        return "ended before its end"
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return printable(" ".join(text.split()))


def _whole_number(text: str) -> int | None:
    """Return a number of at most 18 ASCII digits, else None."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
