"""RankNet's gradient over 11 million pairs; LambdaRank's epoch, one step a query, and PyTorch's."""

from __future__ import annotations

import numpy as np

from benchmarks.table import Row, seconds, show
from letorbench.compiled.threads import thread_count
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import loss
from letorbench.rankers.lambdarank import LambdaRank

#: MSLR's shares of the labels 0..4
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]


def drawn(n_queries: int, docs: int, n_features: int) -> QuerySet:
    rng = np.random.default_rng(3)
    n_docs = n_queries * docs
    return QuerySet(
        rng.random((n_docs, n_features), dtype=np.float32),
        rng.choice(5, n_docs, p=SHARES).astype(np.int32),
        np.arange(0, n_docs + 1, docs, dtype=np.int64),
        np.arange(n_queries, dtype=np.int64),
    )


def ranknet() -> Row:
    """The value and the gradient of RankNet's cost, 2,540 queries x 120 documents."""
    queries = drawn(2_540, 120, 1)
    blocks = queries.by_label
    sizes = np.diff(blocks.starts)
    later = np.repeat(queries.offsets[1:], np.diff(blocks.queries)) - blocks.starts[1:]
    scores = np.random.default_rng(4).normal(size=queries.n_docs)
    elapsed = seconds(lambda: loss("ranknet")(scores, queries), repeats=15)
    return Row(
        f"RankNet gradient and cost, {(sizes * later).sum() / 1e6:.1f} million pairs",
        f"{elapsed * 1e3:.1f} ms",
        "a direct compiled version, one core: 27 ms",
        "<= 8 ms",
        elapsed <= 0.008,
    )


def lambdarank() -> Row:
    """Seconds an epoch from the difference of a long and a short training, so set-up cancels."""
    queries = drawn(6_000, 120, 136)
    assert queries.by_label is not None  # made and kept, so that it is not timed

    def epochs(n: int) -> float:
        ranker = LambdaRank(epochs=n, learning_rate=1e-4)
        return seconds(lambda: ranker.fit_sets(queries), repeats=3)

    ours = (epochs(16) - epochs(1)) / 15
    theirs = _torch_epoch(queries)
    if theirs is None:
        theirs = 1.74
        peer = "PyTorch is not installed; measured elsewhere 1.74 s"
    else:
        peer = f"PyTorch: {theirs:.2f} s, {theirs / ours:.1f} times ours"
    return Row(
        "LambdaRank epoch, two layers, a step a query, 6,000 queries x 120 docs x 136 features",
        f"{ours:.2f} s",
        peer,
        "10 times faster",
        10.0 * ours <= theirs,
        {"letorbench": ours, "PyTorch": theirs},
    )


def _torch_epoch(queries: QuerySet) -> float | None:
    """Seconds with the better of one thread and all; None where PyTorch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    times = []
    for threads in {1, thread_count()}:
        torch.set_num_threads(threads)
        times.append(_torch_queries(torch, queries, 1_000))
    return min(times) * queries.n_queries / 1_000


def _torch_queries(torch, queries: QuerySet, n_timed: int) -> float:
    """The same net, forces and steps in PyTorch; seconds for that many queries."""
    torch.manual_seed(0)
    features = torch.from_numpy(queries.features)
    gain = torch.from_numpy(2.0 ** queries.labels.astype(np.float32) - 1.0)
    net = torch.nn.Sequential(
        torch.nn.Linear(queries.n_features, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1)
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    docs = int(queries.lengths[0])
    discount = 1.0 / torch.log2(torch.arange(docs) + 2.0)
    place = torch.empty(docs)

    def step(q: int) -> None:
        rows = slice(q * docs, (q + 1) * docs)
        scores = net(features[rows])[:, 0]
        with torch.no_grad():
            g, s = gain[rows], scores.detach()
            place[torch.argsort(s, descending=True)] = discount
            ideal = (torch.sort(g, descending=True)[0] * discount).sum()
            swap = (g[:, None] - g[None, :]).clamp(min=0.0)
            swap = swap * (place[:, None] - place[None, :]).abs()
            force = torch.sigmoid(s[None, :] - s[:, None]) * swap / ideal
            total = force.sum(1) - force.sum(0)
        optimizer.zero_grad(set_to_none=True)
        scores.backward(-total)
        optimizer.step()

    def pass_over() -> None:
        for q in range(n_timed):
            step(q)

    return seconds(pass_over, repeats=3)


def rows() -> list[Row]:
    return [ranknet(), lambdarank()]


if __name__ == "__main__":
    show(rows())
