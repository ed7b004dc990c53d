"""Commands on small files print the numbers of `dialogues.toml`; what is refused leaves nothing."""

import shlex
import tomllib
from pathlib import Path

import pytest
from conftest import call, numbers, same

DIALOGUES = Path(__file__).with_name("dialogues.toml")
TOLD = tomllib.loads(DIALOGUES.read_text(encoding="utf-8"))


def contents() -> dict[str, bytes]:
    """Every file of the folder where we are, without what a cache holds."""
    paths = (path for path in Path().rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    "dialogue", TOLD["dialogue"], ids=lambda each: " ".join(each["text"].splitlines()[:2])[2:90]
)
def test_commands_print_what_is_written(dialogue, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in dialogue.get("files", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8", newline="")
    told = ""
    for line in filter(lambda each: each.startswith("$ "), dialogue["text"].splitlines()):
        told += f"{line}\n"
        command, *words = shlex.split(line[2:])
        if command == "cat":
            told += numbers("".join(Path(word).read_text() for word in words))
            continue
        before, result = contents(), call(command, *words)
        told += numbers(result.output)
        if result.exit_code:
            told += f"({result.exit_code})\n"
            assert contents() == before
    same(DIALOGUES, dialogue["text"], told)
