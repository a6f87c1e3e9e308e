"""``reproduction.md``: what the paper claims, what was measured, what follows; all of it from results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import plots
from . import EXPERIMENTS, report
from .claims import as_markdown
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


def page(documents: Sequence[Document], out: Path) -> Path:
    """Write the page and its figures into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    parts = [_HEAD]
    for document in documents:
        told = report(document.experiment)
        parts.append(told.text(document).strip())
        claims = told.claims(document)
        if claims:
            parts.append("### Claims\n\n" + as_markdown(claims))
        for stem, figure in told.draw(document).items():
            plots.save(figure, out / f"{stem}.png")
            parts.append(f"![{EXPERIMENTS[document.experiment]}]({stem}.png)")
        parts.append(_made_with(document))
    path = out / "reproduction.md"
    write_aside(path, "\n\n".join(parts) + "\n")
    return path


def _made_with(document: Document) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in document.versions.items() if name != "solver")
    miniature = " **A miniature (`--quick`): it shows the way and proves nothing.**" if document.quick else ""
    sources = document.versions.get("solver", "unknown")
    several = "sources" if "," not in sources else "some runs kept from earlier sources; all of them"
    cores = document.machine.get("cores")
    return f"<sub>{len(document.runs)} runs, {versions}; {cores} cores; {several} {sources}.{miniature}</sub>"
