"""The standing campaign: the library against random problems whose optima are known. ``python -m tests.campaign``."""

import sys
from pathlib import Path

# tests import their siblings by plain name, as pytest lets them; so does the campaign when it is run by itself
sys.path.append(str(Path(__file__).resolve().parent.parent))
