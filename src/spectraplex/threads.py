"""How many threads this library uses: the public names of ``spectraplex.places.threads``."""

from .places.threads import serial, set_threads

__all__ = ["serial", "set_threads"]
