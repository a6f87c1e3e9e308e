"""Filling the holes of a table with few columns."""
