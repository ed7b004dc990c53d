"""A user's own data: from one file, LETOR text or a table, to a data set with folds."""
