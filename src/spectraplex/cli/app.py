"""The commands: each reads its arguments, calls one function, and says what came out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .._version import __version__
from .options import (
    Column,
    Config,
    Delimiter,
    DropEmpty,
    Duplicates,
    Encoding,
    File,
    Header,
    Json,
    Matrix,
    Model,
    Out,
    Quiet,
    Row,
    Value,
)
from .words import sentences

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


@app.command(epilog=EXIT_CODES, short_help="Fit a model to a table with holes, write it to a folder.")
@sentences
def complete(
    file: File,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="The model folder to write.")],
    row: Row = None,
    column: Column = None,
    value: Value = None,
    matrix: Matrix = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    duplicates: Duplicates = None,
    drop_empty: DropEmpty = None,
    radius: Annotated[str | None, typer.Option(help="Bound on the nuclear norm: a number, or auto.")] = None,
    loss: Annotated[str | None, typer.Option(help="squared, huber or logistic.")] = None,
    delta: Annotated[str | None, typer.Option(help="Where the Huber loss becomes linear; auto.")] = None,
    intercepts: Annotated[
        bool | None, typer.Option("--intercepts/--no-intercepts", help="Row and column means.")
    ] = None,
    ridge: Annotated[
        str | None, typer.Option(help="How strongly those are held back: auto, one number, or two as 4,2.")
    ] = None,
    weighting: Annotated[str | None, typer.Option(help="frequency, plain, or an exponent.")] = None,
    implicit: Annotated[
        float | None, typer.Option(help="How much it says which entries are observed; 0 is not.")
    ] = None,
    transform: Annotated[
        str | None, typer.Option(help="log1p fits log(1 + value): where a few values are many times the others.")
    ] = None,
    clip: Annotated[
        bool | None, typer.Option("--clip/--no-clip", help="Predictions within the observed range.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="The certified gap to end at, as a share of the value.")
    ] = None,
    validation: Annotated[float | None, typer.Option(help="The share kept aside to choose the radius.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Most steps of the last fit.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides what is kept aside.")] = None,
    test: Annotated[
        str | None, typer.Option(metavar="FILE", help="Values kept from the fit, to say how good predictions are.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Fit on a Dask cluster: tcp://host:8786, or local for this machine."),
    ] = None,
    config: Config = None,
    checkpoint: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Write a checkpoint so often; see resume.")
    ] = None,
    report: Annotated[
        bool | None, typer.Option("--report/--no-report", help="Write report.html into the model.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there already.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit a model to a table with holes and write it to a folder, with a certificate and a report."""
    flags = dict(locals())
    from . import complete as fitting
    from . import settings
    from .summary import summarised

    for name in ("file", "out", "cluster", "config", "force", "quiet", "json"):
        flags.pop(name)
    job = fitting.Job(file, out, settings.merged(config, flags), force, quiet, _typed())
    if cluster is None:
        done = fitting.complete(job)
    else:
        from .cluster import complete as complete_far

        done = complete_far(job, cluster)
    summarised(done, json)


@app.command(epilog=EXIT_CODES, short_help="Go on with a run that was killed or interrupted.")
@sentences
def resume(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The model that was to be written, or its checkpoint.")
    ],
    data: Annotated[Path | None, typer.Option(metavar="FILE", help="The data, if the file has moved.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a run that was killed or interrupted; it ends with the very factors it would have ended with."""
    from . import complete as fitting
    from .summary import summarised

    done = fitting.resume(model, data, quiet, _typed())
    summarised(done, json)


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
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the value of every pair of labels in a file, as CSV with the labels beside it."""
    from ..tables.layout import Asked
    from . import answer as answers

    asked = Asked(row=row, column=column, delimiter=delimiter, header=header, encoding=encoding)
    answers.predict(model, pairs, out, asked, quiet, json)


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
    out: Out = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """For each row the columns with the largest predictions, best first."""
    from . import answer as answers

    if bool(row) == every:
        raise ValueError("recommend needs rows: --row LABEL, once or more often, or --all.")
    answers.recommend(model, None if every else row, n, not include_seen, min_support, out, quiet, json)


@app.command(epilog=EXIT_CODES, short_help="The columns that are most like others.")
@sentences
def similar(
    model: Model,
    column: Annotated[list[str], typer.Option("--column", help="A column label; may be given more than once.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many columns for each.")] = 10,
    min_support: MinSupport = "auto",
    out: Out = None,
    json: Json = False,
) -> None:
    """For each column those with the most similar factors, best first."""
    from . import answer as answers

    answers.similar(model, column, n, min_support, out, json)


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
    row: Annotated[str | None, typer.Option(help="A column with labels, to be left as it is.")] = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
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
    duplicates: Duplicates = None,
    gap: Annotated[float | None, typer.Option(help="Say no above this share of the value; else the tolerance.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """How far the model can be from the best there is for the data of a file, worked out afresh; 1 if too far."""
    from . import check as checks

    text = {"delimiter": delimiter, "header": header, "encoding": encoding}
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
    duplicates: Duplicates = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the certificate that is written in a model against the data; 1 if it does not hold."""
    from . import check as checks

    text = {"delimiter": delimiter, "header": header, "encoding": encoding}
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


def _typed() -> tuple[str, ...]:
    """The command line, for the record."""
    return ("spectraplex", *sys.argv[1:])
