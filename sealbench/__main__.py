"""`python -m sealbench` is the same as `seal`."""

from sealbench.cli.root import main

if __name__ == "__main__":  # worker processes import this module under another name
    main()
