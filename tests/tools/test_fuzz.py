"""A short run of every fuzzing target."""

import sys

import pytest
from fuzz import CORPUS, TARGETS, Misread, by_mutations, target_class
from fuzz_text import Letor


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_run(name, tmp_path):
    made = target_class(name)(tmp_path)
    seeds = made.seeds()
    assert sum(made.taken(data) for data in seeds), "nothing is right among the seeds"
    assert by_mutations(made, 60.0, 7, tmp_path / "last", made.short) == made.short


def test_every_corpus_has_a_target():
    assert {path.name for path in CORPUS.iterdir()} <= {*map(str.lower, TARGETS)}


def test_a_misread_number_is_noticed(tmp_path, monkeypatch):
    """The harness can fail: a reader that reads other numbers does not pass."""
    made = Letor(tmp_path)
    monkeypatch.setattr(sys.modules["plain_readers"], "float", lambda text: 0.0, raising=False)
    with pytest.raises(Misread, match="other features"):
        made.taken(b"1 qid:1 1:2\n\0")
