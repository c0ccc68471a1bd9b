"""`python -m posterior` is the command `posterior`."""

from posterior.cli import main

main()
