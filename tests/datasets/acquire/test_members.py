"""Members of archives: their sizes, and what is no plain file."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from letorbench.datasets.acquire.members import Member, Source, blocks, opened
from letorbench.errors import DataError

NAME = PurePosixPath("Fold1/train.txt")


@pytest.mark.parametrize("size", [0, 2])
def test_a_member_has_the_size_that_the_archive_states(size: int) -> None:
    source = Source(Path("a.zip"), "a", (Member(NAME, size),), lambda _: io.BytesIO(b"x"))
    with pytest.raises(DataError, match=f"found 1 bytes, expected {size}"):
        list(blocks(source, source.members[0]))


def test_a_sparse_file_of_a_tar_is_refused(tmp_path: Path) -> None:
    """Its holes are as large as its header says, whatever the archive's own size."""
    info = tarfile.TarInfo(str(NAME))
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 512
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[386:410] = b"%011o\0%011o\0" % (0, 512)
    header[483:495] = b"%011o\0" % 1_000_000  # the size with its holes
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    path = tmp_path / "sparse.tar"
    path.write_bytes(bytes(header) + bytes(512) + bytes(1024))
    with tarfile.open(path) as archive:
        (found,) = archive.getmembers()
        assert found.issparse() and found.isreg() and found.size == 1_000_000
    with pytest.raises(DataError, match="is a link or a device"), opened(path):
        pass
