"""A short run of every fuzzing target, and what was found by longer ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fuzz import TARGETS, by_mutations, target
from fuzz_letor import Letor
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import WORDS
from target import CORPUS, Misread


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETORBENCH_THREADS", "1")
    made = target(name, tmp_path)
    seeds = made.seeds()
    if name == "trees" and not seeds:
        pytest.skip("neither lightgbm nor xgboost is installed")
    assert seeds
    taken = sum(made.taken(data) for data in seeds)
    assert taken, "nothing is right among the seeds"
    tried, _ = by_mutations(made, made.short, 60.0, seed=7, work=tmp_path)
    assert tried == made.short


def test_every_corpus_has_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(TARGETS)


def test_a_misread_number_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness can fail: a reader that reads other numbers does not pass."""
    made = Letor(tmp_path)
    monkeypatch.setattr(sys.modules["plain_reader"], "float", lambda text: 0.0, raising=False)
    with pytest.raises(Misread, match="other features"):
        made.taken(b"1 qid:1 1:2\n\0")


words = st.one_of(
    st.sampled_from([word.decode("utf-8", "surrogateescape") for word in (*WORDS, *Letor.words)]),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(repr),
    st.floats(width=32).map(lambda x: f"{x:.30f}"),
    st.text(max_size=3),
)
pairs = st.tuples(st.integers(-1, 12), words).map(lambda pair: f"{pair[0]}:{pair[1]}")
good = st.tuples(st.integers(1, 9), st.floats(-1e6, 1e6)).map(lambda p: f"{p[0]}:{p[1]!r}")
choices = st.binary(max_size=1)
lines = st.tuples(
    st.one_of(st.integers(0, 4).map(str), words),
    st.one_of(st.integers(1, 3).map(lambda q: f"qid:{q}"), words.map(lambda w: f"qid:{w}"), words),
    st.one_of(
        st.lists(good, max_size=5).map(lambda found: sorted(found, key=lambda p: int(p[0]))),
        st.lists(st.one_of(pairs, words), max_size=3),
    ),
    st.one_of(st.just(""), words.map(lambda w: f"#docid = {w}"), words.map(lambda w: f"#{w}")),
).map(lambda t: " ".join([t[0], t[1], *t[2], t[3]]))


def test_generated_lines_are_read_as_a_plain_reader_reads_them(tmp_path: Path) -> None:
    made = Letor(tmp_path)

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(lines, min_size=1, max_size=4), st.sampled_from(["", "\n"]), choices)
    def check(found: list[str], end: str, choice: bytes) -> None:
        text = "\n".join(found) + end
        made.taken(text.encode("utf-8", "surrogateescape") + (choice or b"\0"))

    check()
