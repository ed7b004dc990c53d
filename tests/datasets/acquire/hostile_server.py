"""A server on this machine that sends a file as good and as bad servers do."""

from __future__ import annotations

import http.server
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Behaviour = Callable[["Handler", bytes], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every GET with the behaviour that its path names; `asked` lists the ranges."""

    protocol_version = "HTTP/1.1"
    content: bytes
    behaviours: dict[str, Behaviour]
    asked: list[str | None]

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Range"))
        try:
            self.behaviours[self.path.split("/")[1]](self, self.content)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    def head(self, status: int = 200, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def whole(handler: Handler, data: bytes) -> None:
    handler.head(Content_Length=len(data))
    handler.wfile.write(data)


def with_ranges(handler: Handler, data: bytes, stop: int | None = None, **facts: object) -> None:
    """Send the range that is asked for, all but what is at or behind `stop` of the content."""
    start = _start(handler)
    if start is None:
        handler.head(Content_Length=len(data), **facts)
    elif start >= len(data):
        handler.head(416, Content_Length=0)
        return
    else:
        span = f"bytes {start}-{len(data) - 1}/{len(data)}"
        handler.head(206, Content_Length=len(data) - start, Content_Range=span, **facts)
    handler.wfile.write(data[start or 0 : stop])


def cut_into(n_pieces: int, etag: str = '"a"') -> Behaviour:
    """Return a behaviour that ends each answer after a piece, and continues where it is asked."""

    def behave(handler: Handler, data: bytes) -> None:
        size = -(-len(data) // n_pieces)
        with_ranges(handler, data, (_start(handler) or 0) + size, ETag=etag)

    return behave


def silent(handler: Handler, data: bytes) -> None:
    time.sleep(3)


def drips(handler: Handler, data: bytes) -> None:
    handler.head(Content_Length=len(data))
    for byte in data[:500]:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.02)


def endless(handler: Handler, data: bytes) -> None:
    handler.head()
    while True:
        handler.wfile.write(bytes(1 << 16))


def length(text: str, *, sent: int | None = None) -> Behaviour:
    def behave(handler: Handler, data: bytes) -> None:
        handler.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: {text}\r\n\r\n".encode())
        handler.wfile.write(data[:sent])

    return behave


def chunks(handler: Handler, data: bytes) -> None:
    handler.head(Transfer_Encoding="chunked")
    for start in range(0, len(data), 1000):
        piece = data[start : start + 1000]
        handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


def garbage(handler: Handler, data: bytes) -> None:
    handler.wfile.write(b"\x00\x01\x02 what is this\r\n\r\n")


def page(handler: Handler, data: bytes) -> None:
    handler.head(Content_Type="text/html; charset=utf-8")
    handler.wfile.write(b"<html>Please accept the licence</html>")


def page_in_disguise(handler: Handler, data: bytes) -> None:
    text = b"\n<!doctype html><p>sign in</p>"
    handler.head(Content_Type="application/zip", Content_Length=len(text))
    handler.wfile.write(text)


def status(code: int, reason: str = "") -> Behaviour:
    def behave(handler: Handler, data: bytes) -> None:
        handler.wfile.write(f"HTTP/1.1 {code} {reason}\r\nContent-Length: 0\r\n\r\n".encode())

    return behave


def to(address: str, code: int = 302) -> Behaviour:
    def behave(handler: Handler, data: bytes) -> None:
        handler.head(code, Location=address, Content_Length=0)

    return behave


def wrong_byte(handler: Handler, data: bytes) -> None:
    bad = bytearray(data)
    bad[len(bad) // 2] ^= 1
    whole(handler, bytes(bad))


@contextmanager
def server(content: bytes, **behaviours: Behaviour) -> Iterator[tuple[str, list[str | None]]]:
    """Serve a content; yield the address, and the ranges asked for. Paths name behaviours."""
    asked: list[str | None] = []
    facts = {"content": content, "behaviours": behaviours, "asked": asked}
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("H", (Handler,), facts))
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}", asked
    finally:
        running.shutdown()
        running.server_close()


def _start(handler: Handler) -> int | None:
    found = re.fullmatch(r"bytes=([0-9]+)-", handler.headers.get("Range") or "")
    return int(found[1]) if found else None
