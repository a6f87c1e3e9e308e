"""The command line: files in, files out. ``main`` is the entry point; everything else is loaded when it is needed."""

from __future__ import annotations

import os
import sys
from typing import Any


def main() -> int:
    """The command ``spectraplex``; says what to install where typer or rich is missing."""
    _open_streams()
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401

        from .app import app
    except ImportError as missing:
        if missing.name not in ("rich", "typer"):
            raise
        sys.stderr.write(
            f"The command line needs {missing.name}, which is not installed; from a checkout of spectraplex, run: "
            'pip install ".[cli]"\n'
        )
        return 2
    except KeyboardInterrupt:
        return 130
    app(prog_name="spectraplex")
    return 0


def _open_streams() -> None:
    """Standard streams that can be written to: one that was closed goes nowhere, and no letter ends a run."""
    while True:  # else the next file that is opened would be standard output
        spare = os.open(os.devnull, os.O_RDWR)
        if spare > 2:
            os.close(spare)
            break
    for name in ("stdin", "stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
