"""The commands: each reads its arguments, calls one function, and says what came out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .._version import __version__
from .words import sentences

EXIT_CODES = (
    "Exit codes: 0 all is well; 1 verify or certify says no, or a claim of `reproduce check` is missed; 2 bad input, "
    "or something could not be written; 130 interrupted by Ctrl-C. Results go to standard output, talk to standard "
    "error."
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

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="The result as JSON on standard output, for machines.")]
Row = Annotated[str | None, typer.Option(help="The column with row labels: its name, or its position from 1.")]
Column = Annotated[str | None, typer.Option(help="The column with column labels.")]
Value = Annotated[str | None, typer.Option(help="The column with values.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates columns: a character, '::', tab, blanks, ….")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")]
Encoding = Annotated[str | None, typer.Option(help="Of a text file that is not UTF-8, such as latin-1.")]
Matrix = Annotated[bool | None, typer.Option("--matrix", help="The file is a wide table with blanks where nothing is.")]
Duplicates = Annotated[str | None, typer.Option(help="What to do where a pair comes twice: error, mean or last.")]
DropEmpty = Annotated[
    bool | None, typer.Option("--drop-empty", help="Leave out lines without a value, and empty rows and columns.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder.")]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, npz, mtx, u.data, ratings.dat; also .gz.")
]


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


@app.command(epilog=EXIT_CODES)
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
    delta: Annotated[float | None, typer.Option(help="Where the Huber loss becomes linear.")] = None,
    intercepts: Annotated[
        bool | None, typer.Option("--intercepts/--no-intercepts", help="Row and column means.")
    ] = None,
    ridge: Annotated[
        str | None, typer.Option(help="How strongly those are held back: one number, or two as 4,2.")
    ] = None,
    weighting: Annotated[str | None, typer.Option(help="frequency, plain, or an exponent.")] = None,
    implicit: Annotated[
        float | None, typer.Option(help="How much it says which entries are observed; 0 is not.")
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
    config: Annotated[Path | None, typer.Option(help="A TOML file with any of these settings; flags win.")] = None,
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
    from . import fitting, settings
    from .words import summarised

    for name in ("file", "out", "config", "force", "quiet", "json"):
        flags.pop(name)
    job = fitting.Job(file, out, settings.merged(config, flags), force, quiet, _typed())
    done = fitting.complete(job)
    summarised(done, out, json)


@app.command(epilog=EXIT_CODES)
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
    from . import fitting
    from .words import summarised

    done, out = fitting.resume(model, data, quiet, _typed())
    summarised(done, out, json)


@app.command(epilog=EXIT_CODES)
@sentences
def predict(
    model: Model,
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="A file with row and column labels; - reads from stdin.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write here instead of to standard output.")] = None,
    row: Row = None,
    column: Column = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the value of every pair of labels in a file, as CSV with the labels beside it."""
    from . import answers
    from .layout import Asked

    asked = Asked(row=row, column=column, delimiter=delimiter, header=header, encoding=encoding)
    answers.predict(model, pairs, out, asked, quiet, json)


@app.command(epilog=EXIT_CODES)
@sentences
def recommend(
    model: Model,
    row: Annotated[list[str], typer.Option("--row", help="A row label; may be given more than once.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many columns for each row.")] = 10,
    include_seen: Annotated[
        bool, typer.Option("--include-seen", help="Columns that the row has a value of, too.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write here instead of to standard output.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """For each row the columns with the largest predictions, best first."""
    from . import answers

    answers.recommend(model, row, n, not include_seen, out, quiet, json)


@app.command(epilog=EXIT_CODES)
@sentences
def info(model: Model, json: Json = False) -> None:
    """What a model is: data, settings, certificate, and whether its files are as they were written."""
    from . import answers

    answers.info(model, json)


def _typed() -> tuple[str, ...]:
    """The command line, for the record."""
    return ("spectraplex", *sys.argv[1:])
