"""The command itself: what it is called, what it says of itself, and its exit codes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .._version import __version__

EXIT_CODES = (
    "Exit codes: 0 all is well; 1 verify or certify says no, or a claim of `reproduce check` is missed; 2 bad input, "
    "or something could not be written; 3 a fault of spectraplex; 130 interrupted by Ctrl-C. Results go to standard "
    "output, talk to standard error."
)

app = typer.Typer(
    name="spectraplex",
    help="From a table with holes to predictions, a report, and a statement of how good the fit is.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"spectraplex {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say it and end.")
    ] = False,
) -> None:
    pass
