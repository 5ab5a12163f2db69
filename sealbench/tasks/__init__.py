"""Task families with certified ground truth, the answer parser, the leak report, and import.

`base.py` holds the protocol and the registry; each family is one file; `certificates.py` is the
separate checker, by arithmetic alone. Importing this package imports none of them.
"""
