"""`python -m sealbench` is the same as `seal`."""

from sealbench.cli.root import main

main()
