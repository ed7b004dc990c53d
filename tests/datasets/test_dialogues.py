"""Commands on small files print the numbers of `dialogues.toml`; what is refused leaves nothing."""

import shlex
import tomllib
from itertools import product
from pathlib import Path

import pytest
from conftest import call, numbers, same

DIALOGUES = Path(__file__).with_name("dialogues.toml")
EACH = tomllib.loads(DIALOGUES.read_text(encoding="utf-8"))["dialogue"]


def files_of(dialogue: dict) -> dict[str, str]:
    """The files of a dialogue by their paths, with its folds and pairs."""
    qids = dict.fromkeys(dialogue.get("pairs", []), "1")
    for root, folds in dialogue.get("folds", {}).items():
        for fold, (part, name) in product(folds, enumerate(("train", "vali", "test"))):
            qids[f"{root}/Fold{fold}/{name}.txt"] = f"{fold}{part}1"
    pairs = {path: f"0 qid:{qid} 1:1\n1 qid:{qid} 1:2\n" for path, qid in qids.items()}
    return dialogue.get("files", {}) | pairs


def contents() -> dict[str, bytes]:
    """Every file of the folder where we are, without what a cache holds."""
    paths = (path for path in Path().rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    "dialogue", EACH, ids=lambda each: " ".join(each["text"].splitlines()[:2])[2:90]
)
def test_commands_print_what_is_written(dialogue, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files_of(dialogue).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8", newline="")
    printed = ""
    for line in filter(lambda each: each.startswith("$ "), dialogue["text"].splitlines()):
        printed += f"{line}\n"
        command, *words = shlex.split(line[2:])
        if command == "cat":
            printed += numbers("".join(Path(word).read_text() for word in words))
            continue
        before, result = contents(), call(command, *words)
        printed += numbers(result.output)
        if result.exit_code:
            printed += f"({result.exit_code})\n"
            assert contents() == before
    same(DIALOGUES, dialogue["text"], printed)
