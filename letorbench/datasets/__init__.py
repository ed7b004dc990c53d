"""Data sets: from the files on disk to immutable `QuerySet` values."""
