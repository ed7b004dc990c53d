"""Compile everything once, ahead of the first run: `python -m letorbench.compile`.

The kernels, and the package to byte code: where Python may not write it by itself, every
command would spend a tenth of a second on it again.
"""

from __future__ import annotations

import compileall
import importlib
import pkgutil
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from letorbench import kernels


def compile_module(name: str) -> int:
    """Compile one module's kernels into the cache; how many there are."""
    module = importlib.import_module(f"{kernels.__name__}.{name}")
    own = [k for k in kernels.COMPILED if k[0].py_func.__module__ == module.__name__]
    for dispatcher, signatures in own:
        for signature in signatures:
            dispatcher.compile(signature)
    return len(own)


def main() -> None:
    start = time.perf_counter()
    compileall.compile_dir(Path(__file__).parent, quiet=2)  # a place not writable does no harm
    names = [m.name for m in pkgutil.iter_modules(kernels.__path__)]
    with ProcessPoolExecutor(kernels.thread_count(), get_context("spawn")) as pool:
        done = pool.map(compile_module, names)
        list(tqdm(done, "compiling", len(names), unit="file", disable=None))
    # two processes that meet the same kernel can lose each other's entry in its index: what
    # is there is loaded here, what was lost is compiled again
    total = sum(map(compile_module, names))
    print(f"compiled {total} kernels in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
