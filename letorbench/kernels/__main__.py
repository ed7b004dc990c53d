"""Compile every kernel once, ahead of the first run: `python -m letorbench.kernels`."""

from __future__ import annotations

import importlib
import pkgutil

from tqdm import tqdm

from letorbench import kernels


def main() -> None:
    for module in pkgutil.iter_modules(kernels.__path__):
        if module.name != "__main__":
            importlib.import_module(f"{kernels.__name__}.{module.name}")
    for dispatcher, signatures in tqdm(kernels.COMPILED, desc="compiling", disable=None):
        for signature in signatures:
            dispatcher.compile(signature)
    print(f"compiled {len(kernels.COMPILED)} kernels")


if __name__ == "__main__":
    main()
