"""Generated data sets: DEMO, and a synthetic twin of any data set of the catalog."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.catalog import TWIN, Entry, Name, entry
from letorbench.datasets.folds import compose_folds, part_file
from letorbench.datasets.layout import RECIPE, recipe
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic import cubic, twins
from letorbench.datasets.synthetic.twins import TextFormat, write_text
from letorbench.errors import DataError, UsageError
from letorbench.files import unfinished_folder

DEMO_DOCS = (30, 50)


def make(name: str | Name, data_dir: Path, seed: int = 0, scale: float = 1.0) -> Path:
    """Generate DEMO, or the synthetic twin of a data set of the catalog; return its folder.

    A folder that was made in the same way is left as it is. Equal seeds give equal bytes. `scale`
    is the share of the original's queries that a twin gets.
    """
    known = entry(name)
    if known.name != "DEMO" and not known.original:
        if known.twin is None:
            raise UsageError(
                f"{known.name} has no synthetic twin: found no `twin` shape in its catalog entry"
            )
        known = entry(known.name + TWIN)
    target = Path(data_dir) / known.places[0]
    wanted = {
        "made_by": "letorbench datasets make", "name": known.name,
        "original": known.original or None, "seed": seed, "scale": scale,
    }  # fmt: skip
    if target.exists():
        if recipe(target) == wanted:
            return target
        raise DataError(f"{target}: found a folder that was made in another way, expected none")
    with unfinished_folder(target.with_name(f".unfinished-{target.name}")) as folder:
        if known.name == "DEMO":
            assert known.queries is not None
            sizes = [known.queries // known.n_folds] * known.n_folds
            sets = cubic.cubic(np.random.default_rng(seed), sizes, known.n_features, DEMO_DOCS)
            _write(folder, known, [[part] for part in sets], TextFormat())
        else:
            _make_twin(folder, known, seed, scale)
        (folder / RECIPE).write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        folder.rename(target)
    return target


def _make_twin(folder: Path, known: Entry, seed: int, scale: float) -> None:
    from tqdm import tqdm

    streams = np.random.SeedSequence(seed).spawn(6)
    twin = twins.plan(np.random.default_rng(streams[0]), known, scale)
    with tqdm(total=len(twin.labels), unit=" documents", desc=known.name, disable=None) as progress:

        def part(stream: np.random.SeedSequence, start: int, stop: int) -> Iterator[QuerySet]:
            for block in twins.blocks(np.random.default_rng(stream), twin, start, stop):
                yield block
                progress.update(block.n_docs)

        bounds = twins.parts(twin)
        blocks = [part(stream, *each) for stream, each in zip(streams[1:], bounds)]
        _write(folder, known, blocks, twin.form)


def _write(
    folder: Path, known: Entry, parts: Sequence[Iterable[QuerySet]], form: TextFormat
) -> None:
    """Write the blocks of each part as the official files: a rotation, or a fixed split."""
    valid = "valid" if known.prefix else "vali"
    files = [folder / f"{known.prefix}{name}.txt" for name in ("train", valid, "test")]
    if known.n_folds > 1:
        files = [part_file(folder, number, known.n_folds) for number in range(len(parts))]
    for number, (path, blocks) in enumerate(zip(files, parts)):
        if known.validation or number != 1:
            path.parent.mkdir(exist_ok=True)
            with path.open("xb") as file:
                for block in blocks:
                    write_text(file, block, form)
    if known.n_folds > 1:
        compose_folds(folder, known.n_folds)
