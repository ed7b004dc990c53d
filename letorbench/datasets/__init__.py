"""Data sets: query sets, and the limits of a line of data, which compiled code reads too."""

#: the most digits of a label, and the largest: labels are grades, or places in a long list
LONGEST_LABEL, LARGEST_LABEL = 7, 9_999_999
#: the label of a document that is not judged
UNJUDGED = -1
#: the largest grade made from other labels, and the most labels that are listed one by one
LARGEST_GRADE = 31
#: the most bytes of a query's id in a file: 250 characters of any script
LONGEST_QID = 1000
