"""The commands that fit: each reads its arguments, calls one function, and says what came out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Column,
    Config,
    Decimal,
    Delimiter,
    Device,
    DropEmpty,
    Duplicates,
    Encoding,
    File,
    Header,
    Json,
    Matrix,
    Quiet,
    Row,
    Thousands,
    Value,
)
from .root import EXIT_CODES, app
from .words import sentences


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
    decimal: Decimal = None,
    thousands: Thousands = None,
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
    weighting: Annotated[str | None, typer.Option(help="auto, frequency, plain, or an exponent.")] = None,
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
    seed: Annotated[int | None, typer.Option(help="Decides the random starts of the solver.")] = None,
    time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="When values were observed: the latest are held out to choose.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Values kept from the fit, to say how good it is; or a share, such as 0.1."),
    ] = None,
    names: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with a title for every id, for the report.")
    ] = None,
    row_features: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What is known of rows, a line a label: numbers and categories."),
    ] = None,
    column_features: Annotated[
        str | None, typer.Option(metavar="FILE", help="What is known of columns, a line a label.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Fit on a Dask cluster: tcp://host:8786, or local for this machine."),
    ] = None,
    device: Device = None,
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
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="For a run on a cluster: another one, or local.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Go on with a run that was killed or interrupted; on one machine it ends with the very factors it would have."""
    from . import complete as fitting
    from .summary import summarised

    left = fitting.unfinished(model, data, quiet, _typed())
    if left.cluster is None:
        if cluster is not None:
            raise ValueError(f"{model}: the run was on one machine and goes on there; leave --cluster away.")
        done = fitting.resume(left)
    else:
        from .cluster import resume as resume_far

        done = resume_far(left, cluster or left.cluster)
    summarised(done, json)


def _typed() -> tuple[str, ...]:
    """The command line, for the record."""
    return ("spectraplex", *sys.argv[1:])


from . import app_answers, app_tomography, app_checks  # isort: skip # noqa: E402, F401 - last, so that --help has the commands in this order
