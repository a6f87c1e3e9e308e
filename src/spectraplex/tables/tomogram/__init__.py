"""Files of counts: tables in text, JSON and what Python prints, arrays; outcomes stay text, so that no zero is lost."""

from .held import Asked, Tomogram
from .read import read_tomogram

__all__ = ["Asked", "Tomogram", "read_tomogram"]
