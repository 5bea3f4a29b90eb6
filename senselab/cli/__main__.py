"""`python -m senselab.cli`."""

from senselab.cli.app import main

main()
