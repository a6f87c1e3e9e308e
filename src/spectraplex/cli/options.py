"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="The result as JSON on standard output, for machines.")]
Row = Annotated[str | None, typer.Option(help="The column with row labels: its name, or its position from 1.")]
Column = Annotated[str | None, typer.Option(help="The column with column labels.")]
Value = Annotated[str | None, typer.Option(help="The column with values.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates columns: a character, '::', tab, blanks, ….")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")]
Encoding = Annotated[str | None, typer.Option(help="Of a text file that is not UTF-8, such as latin-1.")]
Decimal = Annotated[str | None, typer.Option(metavar="MARK", help="What decimals stand behind: a point, or , (comma).")]
Thousands = Annotated[
    str | None, typer.Option(metavar="MARK", help="What stands between thousands: . , ' or blank; else nothing.")
]
NamesFile = Annotated[
    Path | None,
    typer.Option("--names", metavar="FILE", help="A file with a title for every id, to be shown beside it."),
]
Config = Annotated[Path | None, typer.Option(help="A TOML file with any of these settings; flags win.")]
Device = Annotated[
    str | None, typer.Option(help="Where to compute: cuda for a GPU, cpu for Torch on this processor, or auto.")
]
Matrix = Annotated[bool | None, typer.Option("--matrix", help="The file is a wide table with blanks where nothing is.")]
Duplicates = Annotated[
    str | None, typer.Option(help="Where a pair comes twice: error, mean, sum, first, last, or all (each counts).")
]
DropEmpty = Annotated[
    bool | None, typer.Option("--drop-empty", help="Leave out lines without a value, and empty rows and columns.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder.")]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, npz, mtx, u.data, ratings.dat; also .gz.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write here instead of to standard output.")]
