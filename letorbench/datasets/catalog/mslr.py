"""MSLR-WEB10K and MSLR-WEB30K, Microsoft's retired labels of a web search engine.

The documents per query of the twins are counted from a sample of the releases.
"""

from __future__ import annotations

from types import MappingProxyType

from letorbench.datasets.catalog.facts import Entry, FileHash, Source, TwinShape

_FILES = "http://research.microsoft.com/en-us/um/beijing/projects/mslr/data"
#: the share's page, which a browser must open, and the programs' address of the same file,
#: which answers errors since 2025: github.com/tensorflow/datasets/issues/11136
_SHARE_PAGES = "https://1drv.ms/u"
_SHARES = "https://api.onedrive.com/v1.0/shares"
_RANKEVAL = "http://rankeval.isti.cnr.it/rankeval-datasets"

#: sha256 of the files of the releases
_HASHES_10K = {
    "Fold1/train.txt": "6eb3fae4e1186e1242a6520f53a98abdbcde5b926dd19a28e51239284b1d55dc",
    "Fold1/test.txt": "33fe002374a4fce58c4e12863e4eee74745d5672a26f3e4ddacc20ccfe7d6ba0",
    "Fold1/vali.txt": "e86fb3fe7e8a5f16479da7ce04f783ae85735f17f66016786c3ffc797dd9d4db",
    "Fold2/train.txt": "40e4a2fcc237d9c164cbb6a3f2fa91fe6cf7d46a419d2f73e21cf090285659eb",
    "Fold2/test.txt": "44add582ccd674cf63af24d3bf6e1074e87a678db77f00b44c37980a3010917a",
    "Fold2/vali.txt": "33fe002374a4fce58c4e12863e4eee74745d5672a26f3e4ddacc20ccfe7d6ba0",
    "Fold3/train.txt": "f13005ceb8de0db76c93b02ee4b2bded6f925097d3ab7938931e8d07aa72acd7",
    "Fold3/test.txt": "c0a5a3c6bd7790d0b4ff3d5e961d0c8c5f8ff149089ce492540fa63035801b7a",
    "Fold3/vali.txt": "44add582ccd674cf63af24d3bf6e1074e87a678db77f00b44c37980a3010917a",
    "Fold4/train.txt": "6c1677cf9b2ed491e26ac6b8c8ca7dfae9c1a375e2bce8cba6df36ab67ce5836",
    "Fold4/test.txt": "dc6083c24a5f0c03df3c91ad3eed7542694115b998acf046e51432cb7a22b848",
    "Fold4/vali.txt": "c0a5a3c6bd7790d0b4ff3d5e961d0c8c5f8ff149089ce492540fa63035801b7a",
    "Fold5/train.txt": "4249797a2f0f46bff279973f0fb055d4a78f67f337769eabd56e82332c044794",
    "Fold5/test.txt": "e86fb3fe7e8a5f16479da7ce04f783ae85735f17f66016786c3ffc797dd9d4db",
    "Fold5/vali.txt": "dc6083c24a5f0c03df3c91ad3eed7542694115b998acf046e51432cb7a22b848",
}
_HASHES_30K = {
    "Fold1/train.txt": "40b8eee4d1221cf8205e81603441c1757dd024a3baac25a47756210b03c031d6",
    "Fold1/test.txt": "9a4668fd2615e6772d2e5c4d558d084b2daaf2405571eaf3e4d0526f4da096c7",
    "Fold1/vali.txt": "7647834b84c849a61e5cf3c999a2f72a4785613286fd972a5615e9fcb58f94d8",
    "Fold2/train.txt": "a6d12dc4cc8c2dd0743b58c49cad12bd0f6f1cbeda54b54a91e5b54e0b96e7ca",
    "Fold2/test.txt": "d192c023baebdae148d902d716aeebf3df2f2f1ce5aee12be4f0b8bb76a8c04a",
    "Fold2/vali.txt": "9a4668fd2615e6772d2e5c4d558d084b2daaf2405571eaf3e4d0526f4da096c7",
    "Fold3/train.txt": "3d0eb52a6702b2c48750a6de89e757cfac499c8ec1d38e3843cb531c059f2f74",
    "Fold3/test.txt": "ba2487a27c21dceea0b9afaadbb6b392d5f652eb0fb8649cbd201bb894c47c12",
    "Fold3/vali.txt": "d192c023baebdae148d902d716aeebf3df2f2f1ce5aee12be4f0b8bb76a8c04a",
    "Fold4/train.txt": "21e389656be3c2bfe92eb4fb898d2f30dc24990fc524aada7471b949f176778d",
    "Fold4/test.txt": "a7ba03d708ae6b21556a8a6859d52e37cc0dcb2cbff992c630ef6173bb02122a",
    "Fold4/vali.txt": "ba2487a27c21dceea0b9afaadbb6b392d5f652eb0fb8649cbd201bb894c47c12",
    "Fold5/train.txt": "a19da1799650b08c0dc3baaec6c590469ef1773148082e1a10b8504f2f5e9a8b",
    "Fold5/test.txt": "7647834b84c849a61e5cf3c999a2f72a4785613286fd972a5615e9fcb58f94d8",
    "Fold5/vali.txt": "a7ba03d708ae6b21556a8a6859d52e37cc0dcb2cbff992c630ef6173bb02122a",
}


def _mslr(
    size: str,
    sizes: tuple[int, int],
    counts: tuple[int, ...],
    most: int,
    archive: tuple[str, int, str],
    hashes: dict[str, str],
) -> Entry:
    """Return the entry of a size.

    sizes are its queries and documents, most the documents of its longest query, archive the
    share's name, bytes and sha256.
    """
    name = f"MSLR-WEB{size}"
    share, n_bytes, digest = archive
    small = f"msn{size.lower()}"
    return Entry(
        name=name,
        title="Microsoft learning to rank, retired labels of a web search engine",
        convention="mslr",
        n_features=136,
        max_label=4,
        queries=sizes[0],
        documents=sizes[1],
        label_counts=counts,
        places=(name,),
        terms="Microsoft Research's terms: research use, not to be passed on",
        citation="T. Qin, T.-Y. Liu: Introducing LETOR 4.0 Datasets, arXiv:1306.2597, 2013",
        page="https://www.microsoft.com/en-us/research/project/mslr/",
        aliases=(f"MSLR{size}", f"MSN{size}", f"WEB{size}"),
        twin=TwinShape(1, most, 0.55, "raw"),
        sources=(
            Source(f"{_RANKEVAL}/{small}/dataset/{small}.tar.gz", f"{small}.tar.gz"),
            Source(f"{_FILES}/{name}.zip", f"{name}.zip"),
            Source(
                f"{_SHARES}/{share}/root/content",
                f"{name}.zip",
                n_bytes,
                FileHash("sha256", digest),
                answered="HTTP 400 in September 2025",
            ),
            Source(f"{_SHARE_PAGES}/{share}"),
        ),
        hashes=MappingProxyType({file: FileHash("sha256", h) for file, h in hashes.items()}),
    )


ENTRIES = (
    _mslr(
        "10K",
        (10_000, 1_200_192),
        (624_263, 386_280, 159_451, 21_317, 8_881),
        908,
        (
            "s!AtsMfWUz5l8nbOIoJ6Ks0bEMp78",
            1_234_144_912,
            "2902142ea33f18c59414f654212de5063033b707d5c3939556124b1120d3a0ba",
        ),
        _HASHES_10K,
    ),
    _mslr(
        "30K",
        (31_531, 3_771_125),
        (1_940_952, 1_225_770, 504_958, 69_010, 30_435),
        1251,
        (
            "s!AtsMfWUz5l8nbXGPBlwD1rnFdBY",
            3_849_406_307,
            "08cb7977e1d5cbdeb57a9a2537a0923dbca6d46a76db9a6afc69e043c85341ae",
        ),
        _HASHES_30K,
    ),
)
