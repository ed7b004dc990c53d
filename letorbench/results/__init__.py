"""Results: the only package that knows the names and the formats of result files.

`paths` has every name. `store` writes, reads and checks the folds; `summary` makes tables of
them and their CSV copies, `measuring` adds measures that were not stored. Other people's score
files come in by `external`, ours go out by `export`.
"""
