"""The limits of a line of data. Compiled code reads them too: this module imports nothing."""

#: the largest label: its gain 2^31 - 1 is the largest whole number of 32 bits
LARGEST_LABEL = 31
#: the most bytes of a query's id in a file: 250 characters of any script
LONGEST_QID = 1000
