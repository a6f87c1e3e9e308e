"""What this library does, in half a minute: ``python -m spectraplex.demo --out FOLDER``."""
