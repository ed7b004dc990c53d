"""Which labels and query ids there are."""

from __future__ import annotations

#: the largest label: its gain 2^31 - 1 is the largest whole number of 32 bits
LARGEST_LABEL = 31
#: what every message says that refuses a label
EXPECTED_LABEL = (
    f"an integer from 0 to {LARGEST_LABEL}, a grade r whose gain is 2^r - 1 (`letorbench datasets "
    "split` makes grades of other numbers: --grades 0.5,1.5 by bounds, --grades auto by values)"
)
#: the most bytes of a query's id in a file: 250 characters of any script
LONGEST_QID = 1000
