"""``reproduction.md`` and ``online.md``: what the paper claims, what was measured, what follows, all from results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import plots
from . import EXPERIMENTS, report
from .claims import as_markdown, in_short
from .document import Document, write_aside

_HEAD = """# The paper's evidence, reproduced

Garber, "Faster Projection-free Convex Optimization over the Spectrahedron", claims a theorem, a table and a figure.
This page says, claim by claim, what was measured here. Commands write it from raw results; nothing on it is typed:

```bash
python -m spectraplex.experiments all --out reproduction
python -m spectraplex.experiments check reproduction
python -m spectraplex.experiments page reproduction --out docs
```

"holds", "MISSED" and "does not hold" are verdicts that `check` recomputes; the last is for statements of the paper that
are reported as they turned out. The schema of the raw results is in `spectraplex/experiments/document.py`.
"""


_ONLINE = """# Learners of data that keeps coming, measured

The paper names online optimisation as one of the uses of the spectrahedron; no experiment of it does. How to use the
learners: [quickstart-streams.md](quickstart-streams.md). Commands write this page from raw results:

```bash
python -m spectraplex.experiments online --out online
python -m spectraplex.experiments check online
python -m spectraplex.experiments page online --out docs
```
"""
#: Experiments that are not the paper's have a page of their own.
_OWN = {"online": _ONLINE}


def page(documents: Sequence[Document], out: Path) -> list[Path]:
    """Write the pages and their figures into a folder."""
    paper = [document for document in documents if document.experiment not in _OWN]
    written = [_written("reproduction", _HEAD, paper, out)] if paper else []
    for document in documents:
        if document.experiment in _OWN:
            written.append(_written(document.experiment, _OWN[document.experiment], [document], out))
    return written


def _written(stem: str, head: str, documents: Sequence[Document], out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    parts = [head.strip(), "## What holds\n\n" + "\n".join(_first_screen(documents))]
    for document in documents:
        told = report(document.experiment)
        parts.append(told.text(document).strip())
        claims = told.claims(document)
        if claims:
            parts.append("### Claims\n\n" + as_markdown(claims))
        for name, figure in told.draw(document).items():
            plots.save(figure, out / f"{name}.png")
            parts.append(f"![{EXPERIMENTS[document.experiment]}]({name}.png)")
        parts.append(_made_with(document))
    path = out / f"{stem}.md"
    write_aside(path, "\n\n".join(parts) + "\n")
    return path


def _first_screen(documents: Sequence[Document]) -> list[str]:
    """A line for each experiment, and below it what does not hold."""
    lines = []
    for document in documents:
        first, *rest = in_short(report(document.experiment).claims(document))
        name = f"**{document.experiment}**" + (" (a miniature)" if document.quick else "")
        lines += [f"- {name}: {first}{', but:' if rest else '.'}", *(f"  - {line}." for line in rest)]
    return lines


def _made_with(document: Document) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in document.versions.items() if name != "solver")
    miniature = " **A miniature (`--quick`): it shows the way and proves nothing.**" if document.quick else ""
    sources = document.versions.get("solver", "unknown")
    several = "sources" if "," not in sources else "some runs kept from earlier sources; all of them"
    cores = document.machine.get("cores")
    return f"<sub>{len(document.runs)} runs, {versions}; {cores} cores; {several} {sources}.{miniature}</sub>"
