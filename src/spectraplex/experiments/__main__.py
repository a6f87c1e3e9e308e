"""The command line: ``python -m spectraplex.experiments NAME | all | check RESULTS | page RESULTS``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import plots
from . import EXPERIMENTS, report
from .claims import as_lines, missed
from .document import Document, read, write_aside, write_csv
from .page import page
from .runner import Failed, run

_DEFAULT_OUT = "reproduction"
INTERRUPTED = 130  # the exit code after Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code: 0, 1 for a claim that is missed, 2 for bad input, 130 after Ctrl-C."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.name == "check":
            return check(Path(asked.results))
        if asked.name == "page":
            return write_page(Path(asked.results), Path(asked.out))
        names = list(EXPERIMENTS) if asked.name == "all" else [asked.name]
        for name in names:
            reproduce(name, Path(asked.out), asked.quick, asked.workers, asked.keep_outdated)
        return 0
    except KeyboardInterrupt:
        _say(f"\nInterrupted: what is finished is kept in {asked.out}; the same command goes on from there.")
        return INTERRUPTED
    except (ValueError, ImportError, Failed) as error:
        _say(str(error))
        return 2
    except OSError as error:
        _say(f"{error.filename or asked.out}: {error.strerror or error}; name a folder that can be written to.")
        return 2


def reproduce(
    name: str, out: Path, quick: bool = False, workers: int | None = None, outdated: bool = False
) -> Document:
    """Run an experiment and write NAME.json, NAME.csv, NAME.md and its figures as PNG and PDF into the folder."""
    plots.ready()
    out.mkdir(parents=True, exist_ok=True)
    _say(f"{name}: {EXPERIMENTS[name]}.")
    document = run(name, out, quick, workers, outdated=outdated)
    write_aside(out / f"{name}.json", document.as_json())
    told = report(name)
    write_csv(out / f"{name}.csv", told.rows(document))
    for stem, figure in told.draw(document).items():
        plots.save(figure, out / f"{stem}.png")
        plots.save(figure, out / f"{stem}.pdf")
    text = told.text(document)
    write_aside(out / f"{name}.md", text)
    sys.stdout.write(text + "\n")
    _say(f"{name}: written to {out} ({name}.json, {name}.csv, {name}.md and figures).")
    return document


def check(results: Path) -> int:
    """Recompute every claim from raw results; 1 if one is missed."""
    claims = [claim for document in _documents(results) for claim in report(document.experiment).claims(document)]
    sys.stdout.write("\n".join(as_lines(claims)) + "\n")
    failed, open_ = missed(claims), [claim for claim in claims if claim.holds is None]
    _say(f"{len(claims)} claims: {len(failed)} missed, {len(open_)} not judged by these results.")
    return 1 if failed else 0


def write_page(results: Path, out: Path) -> int:
    """``reproduction.md`` and ``online.md`` with their figures, from raw results alone."""
    written = page(list(_documents(results)), out)
    _say(f"Written to {' and '.join(str(path) for path in written)}.")
    return 0


def _documents(results: Path) -> list[Document]:
    """The documents of a folder, in the order of the experiments, or the one that is named."""
    if results.is_dir():
        paths = [results / f"{name}.json" for name in EXPERIMENTS if (results / f"{name}.json").is_file()]
        if not paths:
            raise ValueError(f"{results}: holds no results; run one of {', '.join(EXPERIMENTS)} first.")
    else:
        paths = [results]
    documents = [read(path) for path in paths]
    for path, document in zip(paths, documents, strict=True):
        if document.experiment not in EXPERIMENTS:
            raise ValueError(f"{path}: is about an unknown experiment, {document.experiment!r}.")
    return documents


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spectraplex.experiments",
        description="Regenerate what the paper shows, and say whether it holds.",
        epilog="MovieLens is looked for in the folder SPECTRAPLEX_DATA, then in the cache folder, then fetched; where "
        "it cannot be had, a generated table stands in and every figure says so. Exit codes: 0, 1 a claim is missed "
        "(check), 2 bad input, 130 interrupted.",
    )
    commands = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, about in (EXPERIMENTS | {"all": "all of them, one after the other"}).items():
        one = commands.add_parser(name, help=about, description=about)
        one.add_argument("--out", default=_DEFAULT_OUT, metavar="FOLDER", help="results go here (default: %(default)s)")
        one.add_argument("--quick", action="store_true", help="a miniature, in seconds: shows the way, proves nothing")
        one.add_argument(
            "--keep-outdated",
            action="store_true",
            help="use finished runs of other versions of the sources, too; the results name them all",
        )
        one.add_argument("--workers", type=_count, metavar="N", help="processes; results do not depend on it")
    judged = commands.add_parser("check", help="recompute every claim from raw results; exit code 1 on a miss")
    judged.add_argument("results", metavar="RESULTS", help="a NAME.json, or the folder they are in")
    judged.set_defaults(out=_DEFAULT_OUT)
    paged = commands.add_parser("page", help="write reproduction.md, claim by claim, from raw results")
    paged.add_argument("results", metavar="RESULTS", help="the folder of the NAME.json files")
    paged.add_argument("--out", default="docs", metavar="FOLDER", help="the page goes here (default: %(default)s)")
    return parser


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _say(words: str) -> None:
    sys.stderr.write(words + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    code = main()
    if code == INTERRUPTED:  # it may have come while the pool held a lock, and Python's own end would wait for that
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
