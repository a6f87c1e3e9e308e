"""Clicks, plays and purchases: pairs that were seen, and all others that were not."""
