"""``python -m spectraplex`` is the command ``spectraplex``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
