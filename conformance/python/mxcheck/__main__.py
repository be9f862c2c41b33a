"""`python -m mxcheck` is the program."""

from mxcheck_entry.program import main

main()
