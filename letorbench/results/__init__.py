"""Results: the only package that knows the names and the formats of result files.

Two values hold numbers: a fold of `store`, whose files it writes, reads and checks, and the results
of a data set, of `dataset_results`, which are made of its folds. `csv_files` copies them to tables.
`paths` has every name. Other people's score files come in by `external`, ours go out by `export`.
"""
