"""The command for physicists: from a file of counts to a state."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import Encoding, Json, Quiet
from .root import EXIT_CODES, app
from .words import sentences


@app.command(epilog=EXIT_CODES, short_help="Fit a quantum state to counts, write it to a folder.")
@sentences
def tomography(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="COUNTS", help="CSV with setting, outcome, count; one line a setting; JSON; npy, npz, mat."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="STATE", help="The folder to write.")],
    likelihood: Annotated[str, typer.Option(help="multinomial, least-squares or weighted.")] = "multinomial",
    bit_order: Annotated[
        str, typer.Option(help="same: the first bit belongs to the first letter; reversed: the last bit does.")
    ] = "same",
    shots: Annotated[
        float | None, typer.Option(metavar="N", help="Shots of every setting, where the file has frequencies.")
    ] = None,
    outcomes: Annotated[
        str | None, typer.Option(help="What stands for outcomes 0 and 1: DS, ud, 10, …; found out if not said.")
    ] = None,
    bases: Annotated[
        str | None,
        typer.Option(
            help="XYZ, ZXY, IXYZ, …: the bases that digits 0, 1, 2 are, and the order of rows that name no settings."
        ),
    ] = None,
    rows: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="The settings of rows that name none, one a line.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="A state to compare with: W or GHZ.")] = None,
    bootstrap: Annotated[
        int | None, typer.Option(metavar="N", help="Refits for error bars; 100 up to five qubits, else none.")
    ] = None,
    hedging: Annotated[
        str, typer.Option(help="Shots added to every setting, spread over its outcomes: a number, or auto.")
    ] = "0",
    tolerance: Annotated[
        float | None, typer.Option(help="The certified gap to end at, as a share of the gain over the mixed state.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides what is drawn for error bars.")] = 0,
    encoding: Encoding = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html into the folder.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a state that is there already.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit a state to counts of Pauli measurements: a density matrix with a certificate, error bars and a report."""
    from .settings import number_or_word
    from .tomography import Job, summarised
    from .tomography import tomography as fitted

    if bootstrap is not None and (bootstrap < 0 or bootstrap == 1):
        raise ValueError(f"--bootstrap must be 0 or at least 2, got {bootstrap}.")
    settings = {"likelihood": likelihood, "bit_order": bit_order, "random_state": seed}
    settings |= {"outcomes": outcomes, "bases": bases}
    settings["hedging"] = number_or_word(hedging)
    settings["tolerance"] = "auto" if tolerance is None else tolerance
    command = ("spectraplex", *sys.argv[1:])
    job = Job(file, out, settings, target, bootstrap, encoding, rows, shots, report, force, quiet, command)
    summarised(fitted(job), out, quiet, json)
