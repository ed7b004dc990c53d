"""What a fuzzing target is: a function of bytes that must not crash and must not misread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

CORPUS = Path(__file__).with_name("corpus")


class Misread(AssertionError):
    """Something was taken for what it is not."""


class Target(ABC):
    """A kind of input.

    Attributes
    ----------
    name : str
        What the command line and the corpus' folder call it.
    watched : sequence of str
        The modules whose branches guide the fuzzer. None of them holds a kernel.
    words : sequence of bytes
        What is likely to be understood.
    most : int
        The longest input, in bytes.
    short : int
        How many inputs the suite tries.
    """

    name: ClassVar[str]
    watched: ClassVar[Sequence[str]] = ()
    words: ClassVar[Sequence[bytes]] = ()
    most: ClassVar[int] = 4096
    short: ClassVar[int] = 300

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def seeds(self) -> list[bytes]:
        """Return inputs to begin with: by default the corpus."""
        return [path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))]

    @abstractmethod
    def taken(self, data: bytes) -> bool:
        """Return whether the input is taken or refused; raise Misread, or whatever crashed."""
