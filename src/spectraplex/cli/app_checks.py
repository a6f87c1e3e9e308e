"""The commands that check a model, and the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import (
    Column,
    Decimal,
    Delimiter,
    Duplicates,
    Encoding,
    File,
    Header,
    Json,
    Matrix,
    Model,
    Quiet,
    Row,
    Thousands,
    Value,
)
from .root import EXIT_CODES, app
from .words import sentences


@app.command(epilog=EXIT_CODES, short_help="How far a model can be from the best fit.")
@sentences
def certify(
    model: Model,
    file: File,
    row: Row = None,
    column: Column = None,
    value: Value = None,
    matrix: Matrix = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    duplicates: Duplicates = None,
    gap: Annotated[float | None, typer.Option(help="Say no above this share of the value; else the tolerance.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """How far the model can be from the best there is for the data of a file, worked out afresh; 1 if too far."""
    from . import check as checks

    text = {"delimiter": delimiter, "header": header, "encoding": encoding, "decimal": decimal, "thousands": thousands}
    asked = _asked(row=row, column=column, value=value, matrix=matrix, duplicates=duplicates, **text)
    if not checks.certify(model, file, asked, gap, quiet, json):
        raise typer.Exit(1)


@app.command(epilog=EXIT_CODES, short_help="Check the certificate of a model against data.")
@sentences
def verify(
    model: Model,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The data; else those kept in the model.")
    ] = None,
    row: Row = None,
    column: Column = None,
    value: Value = None,
    matrix: Matrix = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    duplicates: Duplicates = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the certificate that is written in a model against the data; 1 if it does not hold."""
    from . import check as checks

    text = {"delimiter": delimiter, "header": header, "encoding": encoding, "decimal": decimal, "thousands": thousands}
    asked = _asked(row=row, column=column, value=value, matrix=matrix, duplicates=duplicates, **text)
    if not checks.verify(model, file, asked, quiet, json):
        raise typer.Exit(1)


def _asked(**said: Any) -> Any:
    from ..tables.layout import Asked

    return Asked(**{name: value for name, value in said.items() if value is not None})


_OWN = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command(context_settings=_OWN, short_help="Regenerate, or check, what the paper shows.")
@sentences
def reproduce(context: typer.Context) -> None:
    """Regenerate what the paper shows, or check it: NAME … | all | check RESULTS | page RESULTS; --help says more."""
    from ..experiments.__main__ import main

    raise typer.Exit(main(context.args))


@app.command(context_settings=_OWN, short_help="What this library does, in half a minute.")
@sentences
def demo(context: typer.Context) -> None:
    """What this library does, in half a minute; --out FOLDER says where the pictures go."""
    from ..demo.__main__ import main

    raise typer.Exit(main(context.args))


@app.command(epilog=EXIT_CODES)
@sentences
def methods(json: Json = False) -> None:
    """What exists, and when to use which."""
    from . import catalogue

    catalogue.show(json)
