"""The command line: files in, files out. ``main`` is the entry point; everything else is loaded when it is needed."""

from __future__ import annotations

import sys


def main() -> int:
    """The command ``spectraplex``; says what to install where typer or rich is missing."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as missing:
        sys.stderr.write(
            f"The command line needs {missing.name}, which is not installed; install spectraplex[cli], for example "
            "with: pip install 'spectraplex[cli]'\n"
        )
        return 2
    from .app import app

    app(prog_name="spectraplex")
    return 0
