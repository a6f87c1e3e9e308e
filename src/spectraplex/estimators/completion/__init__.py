"""Predictions for a table of which some cells are known."""
