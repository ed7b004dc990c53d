"""`python -m letorbench` is `letorbench`."""

from letorbench.cli import main

main()
