"""JSON whose last line is a checksum of the lines before it, so that any changed byte shows."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

#: the key of the checksum, which is the last one; the first release named it so
CHECKSUM = "seal"


def with_checksum(facts: Mapping[str, Any]) -> str:
    """Return facts as JSON text that ends with their checksum."""
    text = json.dumps(facts, indent=1)
    return f'{text[:-2]},\n "{CHECKSUM}": "{digest(text.encode())}"\n}}\n'


def checked(content: bytes) -> dict[str, Any] | None:
    """Return the facts of a content by `with_checksum`; None for any other content."""
    text, _, seal = content.rpartition(f',\n "{CHECKSUM}": '.encode())
    text += b"\n}"
    if seal != f'"{digest(text)}"\n}}\n'.encode():
        return None
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None


def digest(content: bytes) -> str:
    """Return a 128-bit digest as hex."""
    return blake2b(content, digest_size=16).hexdigest()
