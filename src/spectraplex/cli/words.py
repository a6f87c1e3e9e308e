"""Errors as sentences with an exit code, and results as words or JSON."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from .talk import say


def sentences(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose bad input ends in a sentence and exit code 2, and Ctrl-C in 130."""

    @functools.wraps(command)
    def spoken(*args: Any, **options: Any) -> Any:
        try:
            return command(*args, **options)
        except KeyboardInterrupt:
            say("Interrupted at once; no result was written.")
            code = 130
        except BrokenPipeError:  # "| head" has seen enough; the interpreter must not stumble over it at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except MemoryError:
            say("There is not enough memory for this table.")
            code = 2
        except OSError as error:
            say(told(error))
            code = 2
        except (ValueError, TypeError) as error:
            words = str(error)
            for owner in ("MatrixCompletion: ", "NuclearNormImputer: ", "StateTomography: "):
                words = words.removeprefix(owner)
            say(words)
            code = 2
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            if os.environ.get("SPECTRAPLEX_DEBUG"):
                raise
            say(
                f"This should not have happened ({type(error).__name__}: {error}): it is a fault of spectraplex. "
                "Please report it; with SPECTRAPLEX_DEBUG=1 in the environment it says where."
            )
            code = 3
        raise typer.Exit(code)

    return spoken


def told(error: OSError) -> str:
    """What the system says, about which file."""
    words = {
        "FileNotFoundError": "does not exist",
        "PermissionError": "may not be read or written by you",
        "IsADirectoryError": "is a folder",
        "NotADirectoryError": "is not a folder",
        "FileExistsError": "is there already, and is not a folder",
    }.get(type(error).__name__)
    where = error.filename or error.filename2
    if words is None:
        words = f"cannot be read or written: {str(error.strerror or error).rstrip('.')}"
    return f"{where or 'A file'} {words}."


def shown(name: str) -> str:
    """The name of a file for a document: bytes that are no text by their numbers."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
