"""The commands that ask a model, or fill a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Column,
    Config,
    Decimal,
    Delimiter,
    Device,
    Encoding,
    Header,
    Json,
    Model,
    NamesFile,
    Out,
    Quiet,
    Row,
    Thousands,
)
from .root import EXIT_CODES, app
from .words import sentences


@app.command(epilog=EXIT_CODES, short_help="Predict the values of the pairs in a file.")
@sentences
def predict(
    model: Model,
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="A file with row and column labels; - reads from stdin.")
    ],
    out: Out = None,
    row: Row = None,
    column: Column = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Annotated[str | None, typer.Option(metavar="MARK", help="Write decimals with a comma: ,")] = None,
    names: NamesFile = None,
    interval: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Lower and upper ends, too, with this share of values inside.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the value of every pair of labels in a file, as CSV: its lines, and a prediction behind each."""
    from ..tables.layout import Asked
    from . import answer as answers

    asked = Asked(row=row, column=column, delimiter=delimiter, header=header, encoding=encoding, decimal=decimal)
    answers.predict(model, pairs, out, asked, names, quiet, json, interval)


MinSupport = Annotated[
    str, typer.Option("--min-support", help="Leave out columns with fewer observations: auto, or a number.")
]


@app.command(epilog=EXIT_CODES, short_help="The best columns for each row.")
@sentences
def recommend(
    model: Model,
    row: Annotated[list[str] | None, typer.Option("--row", help="A row label; may be given more than once.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every row of the model.")] = False,
    n: Annotated[int, typer.Option("-n", min=1, help="How many columns for each row.")] = 10,
    include_seen: Annotated[
        bool, typer.Option("--include-seen", help="Columns that the row has a value of, too.")
    ] = False,
    min_support: MinSupport = "auto",
    names: NamesFile = None,
    out: Out = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """For each row the columns with the largest predictions, best first."""
    from . import answer as answers

    if bool(row) == every:
        raise ValueError("recommend needs rows: --row LABEL, once or more often, or --all.")
    how = answers.Ranked(n, min_support, not include_seen)
    answers.recommend(model, None if every else row, how, out, names, quiet, json)


@app.command(epilog=EXIT_CODES, short_help="The columns that are most like others.")
@sentences
def similar(
    model: Model,
    column: Annotated[list[str], typer.Option("--column", help="A column label; may be given more than once.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many columns for each.")] = 10,
    min_support: MinSupport = "auto",
    names: NamesFile = None,
    out: Out = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """For each column those with the most similar factors, best first."""
    from . import answer as answers

    answers.similar(model, column, answers.Ranked(n, min_support), out, names, quiet, json)


@app.command(epilog=EXIT_CODES, short_help="What is in a model, and whether it is intact.")
@sentences
def info(model: Model, json: Json = False) -> None:
    """What a model is: data, settings, certificate, and whether its files are as they were written."""
    from . import answer as answers

    answers.info(model, json)


@app.command(epilog=EXIT_CODES, short_help="Fill the holes of a wide table of measurements.")
@sentences
def impute(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A wide table with blanks: CSV, TSV or Parquet.")],
    out: Out = None,
    row: Annotated[
        str | None, typer.Option(help="A column with labels, to be left as it is; none says there is none.")
    ] = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    drop_empty: Annotated[
        bool | None, typer.Option("--drop-empty", help="Leave columns without any value empty.")
    ] = None,
    radius: Annotated[str | None, typer.Option(help="Bound on the nuclear norm: a number, or auto.")] = None,
    neighbors: Annotated[
        str | None, typer.Option(help="How many similar rows a local mean is of; 0 for none, or auto.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="learned, identity or auto.")] = None,
    standardize: Annotated[
        bool | None, typer.Option("--standardize/--no-standardize", help="Columns of one scale.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="How exact the fitted entries are, in standard deviations.")
    ] = None,
    validation: Annotated[float | None, typer.Option(help="The share held out to choose by.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Most steps of a solve.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides what is held out to choose by.")] = None,
    device: Device = None,
    config: Config = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fill the holes of a wide table; what is there is written as it was, text columns included."""
    flags = dict(locals())
    from . import impute as imputing
    from . import settings

    for name in ("file", "out", "config", "quiet", "json"):
        flags.pop(name)
    imputing.impute(file, out, settings.imputing(config, flags), quiet, json)
